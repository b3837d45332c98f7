"""Building blocks of the test cases of `beam_search`.

A story gives the probabilities of the next token. Cases use stories in which correct and wrong searches find different
sequences.
"""

import math
from functools import cache

import torch

from grading.exercises.exercise import EXERCISE, Script, ref, sample_model

# Searches with one error each: in the calls of `step`, in the sequences kept per length, in the end, in the winner
ASKING = ("last id", "no begin")
ROUNDING = ("products", "half")  # float32 products of probabilities; sums of logarithms in float16
KEEPING = (
    "greedy", "one more", "last alone", "probabilities", "near", "each its own", "one of each", "ended apart",
    "ended beside",
)  # fmt: skip
ENDING = ("first end", "first end alone", "full", "behind", "shrinks", "once more", "past end")
WINNING = ("ended only", "unended only", "sum", "root", "power", "begin counts", "one less", "end free", "likeliest")
STAYING = {"stays": lambda pair: pair[0], "stays by its mean": lambda pair: pair[0] / (len(pair[1]) - 1)}
LEAST = 1e-3  # margin of the best mean, and of the last sequence kept, over the next: far above rounding

# Two stories that random drawing seldom gives: for each token, the probabilities of the next one. Tokens that are not
# named share the rest at random; their sequences never win.

# Each measure has its own winner: the sum, `end` at once; divided by the root of the length, y and `end`; if `begin`
# counts, y, u, t and `end`; the mean, x repeated. After x nothing is likelier than x, so every choice of the kept
# sequences finds it.
EACH_ITS_MEASURE = {
    "begin": {"y": 0.45, "end": 0.28, "x": 0.25},
    "x": {"x": 0.68},
    "y": {"end": 0.52, "u": 0.44},
    "u": {"t": 0.75},
    "t": {"end": 0.75},
}
# x, z and then w repeated have by far the best mean, but only at the end. After one token a sequence has ended, and y
# leads; after two, y and `end` lead all running ones; after three, three have ended, and x, z, w lead.
BEST_AT_LAST = {
    "begin": {"y": 0.4, "end": 0.33, "x": 0.25},
    "x": {"z": 0.65},
    "y": {"end": 0.5},
    "z": {"w": 0.75, "end": 0.2},
    "w": {"w": 0.93},
}


def story(table, fade):
    """A function from a tuple of ids to the next token's log-probabilities, as floats.

    They are those of `sample_models.story`. They are cached, because the searches mostly ask for the same ones.
    """
    rows = table.float().tolist()

    @cache
    def next_of(ids):
        logits = [0.0] * len(rows)
        for i in ids:
            logits = [fade * z + new for z, new in zip(logits, rows[i], strict=True)]
        top = max(logits)
        total = top + math.log(sum(math.exp(z - top) for z in logits))
        return [z - total for z in logits]

    return next_of


def searched(next_of, begin, end, width, max_length, wrong=""):
    """(ids, margin) of the search by the contract, or with the error `wrong`.

    margin: the smallest difference that decided it
    """
    running, done, margin = [(0.0, [begin])], [], math.inf
    width = 1 if wrong == "greedy" else width + (wrong == "one more")
    for length in range(1, max_length + 1 + (wrong == "once more")):
        longer = sorted(_longer(next_of, running, wrong), reverse=True)
        if wrong in STAYING:  # ended sequences go on competing
            longer = sorted([*longer, *done], key=STAYING[wrong], reverse=True)
            done = []
        best = _kept(longer, running, end, width, wrong)
        if best == longer[:width] and len(longer) > width:
            margin = min(margin, longer[width - 1][0] - longer[width][0])
        done += [pair for pair in best if pair[1][-1] == end]
        if length > max_length:  # sequences that ended after max_length count, too
            break
        running = [pair for pair in best if pair[1][-1] != end or wrong == "past end"]
        if _over(done, running, width, wrong):
            break
        if wrong == "shrinks":
            width = max(1, width - sum(pair[1][-1] == end for pair in best))
    means = _means(done, running, end, wrong)
    if len(means) > 1:
        margin = min(margin, means[0][0] - means[1][0])
    return means[0][1], margin


def _longer(next_of, running, wrong):
    """All continuations by one token."""
    asked = {"last id": lambda ids: ids[-1:], "no begin": lambda ids: ids[1:] or ids}.get(wrong, list)
    for total, ids in running:
        before = 0.0 if wrong == "last alone" else total
        for i, p in enumerate(next_of(tuple(asked(ids)))):
            total = before + (math.exp(p) if wrong == "probabilities" else p)
            yield (_rounded(total, wrong) if wrong in ROUNDING else total), [*ids, i]


def _rounded(total, wrong):
    """A sum of log-probabilities in float16, or as a float32 product (0 below e**-103)."""
    if wrong == "half":
        return torch.tensor(total).half().item()
    return total if total > -103 else -math.inf


def _kept(longer, running, end, width, wrong):
    """The sequences that are kept, of `longer`, which is sorted by falling probability."""
    ended, others = ([pair for pair in longer if (pair[1][-1] == end) is has] for has in (True, False))
    mine = [[pair for pair in longer if pair[1][:-1] == ids] for _, ids in running]
    if wrong == "each its own":  # `width` continuations of each, however they compare
        return [pair for own in mine for pair in own[:width]]
    if wrong == "one of each" and len(running) > 1:  # they no longer compete
        return [own[0] for own in mine]
    if wrong == "ended apart":  # ended sequences do not count towards the width
        return ended + others[:width]
    if wrong == "ended beside":  # likewise, but only ended sequences among the best remain
        return others[:width] + [pair for pair in longer[:width] if pair in ended]
    if wrong == "near":  # sequences far behind the best are dropped
        return [pair for pair in longer[:width] if pair[0] > longer[0][0] - 1.0]
    return longer[:width]


def _over(done, running, width, wrong):
    """Whether the search ends before max_length, although some sequences go on."""
    if wrong == "behind" and done and running:
        ended, going = (max(total / (len(ids) - 1) for total, ids in some) for some in (done, running))
        return ended >= going
    return (wrong.startswith("first end") and done) or (wrong == "full" and len(done) >= width)


def _means(done, running, end, wrong):
    """The candidates for the winner with their deciding means, the best first."""
    size = {
        "sum": lambda ids: 1,
        "root": lambda ids: (len(ids) - 1) ** 0.5,
        "power": lambda ids: (len(ids) - 1) ** 0.7,
        "begin counts": len,
        "one less": lambda ids: max(1, len(ids) - 2),
        "end free": lambda ids: max(1, len(ids) - 1 - (ids[-1] == end)),
    }.get(wrong, lambda ids: len(ids) - 1)
    unended = [] if wrong in ("ended only", "first end alone") and done else running
    ended = [] if wrong == "unended only" and running else done
    if wrong == "likeliest":  # of the ended sequences, only one competes
        ended = sorted(ended, reverse=True)[:1]
    return sorted(((total / size(ids), ids) for total, ids in ended + unended), reverse=True)


def _by_chance(draw, N, ends, scale):
    """(table, begin, end): random logits after each token, `end`'s raised by `ends`."""
    begin, end = draw.permutation(N)[:2].tolist()
    table = draw.normal(N, N, scale=scale).double()
    table[:, end] += ends
    return table, begin, end


def _by_plan(draw, plan):
    """(table, begin, end): a planned story with random ids and slightly varied numbers."""
    ids = dict(zip([*plan, "end"], draw.permutation(len(plan) + 1).tolist(), strict=True))
    table = draw.normal(len(ids), len(ids), dtype=torch.float64)
    for token, likely in plan.items():
        named, others = [ids[other] for other in likely], [ids[other] for other in ids if other not in likely]
        chances = torch.tensor([*likely.values()], dtype=torch.float64)
        table[ids[token], named] = chances.log() + draw.uniform(len(named), low=-0.02, high=0.02, dtype=torch.float64)
        table[ids[token], others] = ((1 - chances.sum()) * draw.distribution(len(others), dtype=torch.float64)).log()
    return table, ids["begin"], ids["end"]


def telling(draw, N, width, max_length, *, apart=(), alike=(), fade=0.0, ends=0.0, scale=1.3, lasting=None, plan=None):
    """A script that searches a story on which chosen wrong searches succeed or fail.

    Each wrong search in `apart` finds a different sequence, and no two the same one, so that they can be distinguished.
    Each in `alike` finds the right sequence. All of this holds by a clear margin. "greedy" is a width of 1.

    ends     added to the logits of `end`
    scale    spread of the logits; with 0.3 no token is likely
    lasting  whether the result has max_length tokens without `end` (True), has ended before (False), either (None)
    plan     a story of N tokens to use almost unchanged, if random stories hardly ever separate these searches
    """
    while True:
        table, begin, end = _by_plan(draw, plan) if plan else _by_chance(draw, N, ends, scale)
        asked = story(table, fade), begin, end, width, max_length
        found, margin = searched(*asked)
        whole = found[-1] != end
        if margin < LEAST or (lasting is not None and lasting != whole) or len(found) < 3:
            continue
        ways = [found]
        for way in (*apart, *alike):  # the first unwanted result ends this attempt
            other, margin = searched(*asked, way)
            if (margin < LEAST and way not in ROUNDING) or (other != found if way in alike else other in ways):
                break
            ways.append(other)
        else:
            return script(table.float(), begin, end, width, max_length, fade)


def undisputed(draw, N, width, max_length):
    """A script that searches a story on which all wrong searches find the right sequence.

    Each next token is nearly certain, and none of them is `end`.
    """
    ways = (*ASKING, *KEEPING, *ENDING, *WINNING)
    while True:
        order = draw.permutation(N).tolist()
        begin, *path, end = order
        table = draw.normal(N, N).double()
        table[:, end] -= 12
        for here, there in zip([begin, *path], [*path, path[0]], strict=True):
            table[here, there] += 12
        asked = story(table, 0.0), begin, end, width, max_length
        found, _ = searched(*asked)
        if all(searched(*asked, way)[0] == found for way in ways):
            return script(table.float(), begin, end, width, max_length)


def script(table, begin, end, width, max_length, fade=0.0, **kept):
    sizes = {"width": width, "max_length": max_length}
    s = Script(step=sample_model("story", table=table, fade=fade, **kept), begin=begin, end=end, **sizes)
    s.call(EXERCISE, s.step, s.begin, s.end, s.width, s.max_length, name="ids")
    return s


def observed(s):
    width, max_length = s.inputs["width"], s.inputs["max_length"]
    size = len(s.inputs["step"].kwargs["table"])
    fading = ", which remembers all tokens" if s.inputs["step"].kwargs["fade"] else ""
    text = f"beam_search(step, {s.inputs['begin']}, {s.inputs['end']}, {width}, {max_length}); {size} tokens{fading}"
    return s.case(ref("ids")).label(text)


# 0 begins, 3 ends. The likeliest step from 0 leads to 1, after which nothing is likely.
GARDEN = torch.tensor(
    [[0.0, 0.5, 0.4, 0.1], [0.3, 0.2, 0.25, 0.25], [0.02, 0.04, 0.04, 0.9], [0.4, 0.3, 0.2, 0.1]]
).log()
GARDEN[0, 0] = -20.0
