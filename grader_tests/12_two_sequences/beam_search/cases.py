"""What the cases of `beam_search` are made of: stories in which the ways of searching part."""

import math

import torch

from grading.judge.exercise import SUBJECT, Script, ref, specimen

# By the contract, and with one thing wrong
WAYS = (
    "", "greedy", "one more", "last id", "no begin", "last alone", "probabilities", "each its own", "ended apart",
    "ended beside", "first end", "full", "behind", "shrinks", "ended only", "unended only", "sum", "root",
    "begin counts", "one less", "end free",
)  # fmt: skip
LEAST = 1e-3  # by so much the best of all means, and the last that is kept, beat the next: far above rounding


def next_of(table, fade, ids):
    """Log-probabilities after `ids`, as `specimens.story` gives them, in plain numbers."""
    logits = [0.0] * len(table)
    for i in ids:
        logits = [fade * z + new for z, new in zip(logits, table[i], strict=True)]
    top = max(logits)
    total = top + math.log(sum(math.exp(z - top) for z in logits))
    return [z - total for z in logits]


def searched(table, fade, begin, end, width, max_length, wrong=""):
    """(ids, margin): the search by the contract, or with one thing `wrong`; by how much it was decided."""
    running, done, margin = [(0.0, [begin])], [], math.inf
    width = 1 if wrong == "greedy" else width + (wrong == "one more")
    asked = {"last id": lambda ids: ids[-1:], "no begin": lambda ids: ids[1:] or ids}.get(wrong, list)
    for _ in range(max_length):
        longer = []
        for total, ids in running:
            gains = next_of(table, fade, asked(ids))
            before = 0.0 if wrong == "last alone" else total
            longer += [
                (before + (math.exp(p) if wrong == "probabilities" else p), [*ids, i]) for i, p in enumerate(gains)
            ]
        if wrong == "each its own":  # so many continuations of each, however they compare
            mine = [[pair for pair in longer if pair[1][:-1] == ids] for _, ids in running]
            best = [pair for own in mine for pair in sorted(own, reverse=True)[:width]]
        elif wrong == "ended apart":  # what ended takes up no place
            ended = [pair for pair in longer if pair[1][-1] == end]
            best = ended + sorted((pair for pair in longer if pair[1][-1] != end), reverse=True)[:width]
        elif wrong == "ended beside":  # likewise, but only what is among the best has ended
            longer.sort(reverse=True)
            best = [pair for i, pair in enumerate(longer) if pair[1][-1] != end][:width]
            best += [pair for pair in longer[:width] if pair[1][-1] == end]
        else:
            longer.sort(reverse=True)
            best = longer[:width]
            if len(longer) > width:
                margin = min(margin, longer[width - 1][0] - longer[width][0])
        if wrong == "near":  # what is far behind the best is dropped
            best = [pair for pair in best if pair[0] > best[0][0] - 1.0]
        done += [pair for pair in best if pair[1][-1] == end]
        running = [pair for pair in best if pair[1][-1] != end]
        if wrong == "first end" and done:
            break
        if wrong == "full" and len(done) >= width:
            break
        if wrong == "behind" and done and running:
            ended, going = (max(total / (len(ids) - 1) for total, ids in some) for some in (done, running))
            if ended >= going:
                break
        if wrong == "shrinks":
            width = max(1, width - sum(pair[1][-1] == end for pair in best))
    unended = [] if wrong == "ended only" and done else running
    done = [] if wrong == "unended only" and running else done
    sizes = {
        "sum": lambda ids: 1,
        "root": lambda ids: (len(ids) - 1) ** 0.5,
        "begin counts": len,
        "one less": lambda ids: max(1, len(ids) - 2),
        "end free": lambda ids: max(1, len(ids) - 1 - (ids[-1] == end)),
    }
    size = sizes.get(wrong, lambda ids: len(ids) - 1)
    means = sorted(((total / size(ids), ids) for total, ids in done + unended), reverse=True)
    if len(means) > 1:
        margin = min(margin, means[0][0] - means[1][0])
    return means[0][1], margin


def telling(draw, N, width, max_length, *, apart=(), fade=0.0, ends=0.0, lasting=None):
    """A script that searches a story in which each way of `apart` finds something else, decided by a clear margin.

    No two of them find the same, so that they are told from one another. "greedy" is a width of 1.

    ends     how much likelier `end` is made
    lasting  whether what is found has max_length tokens without `end` (True), has ended before (False), either (None)
    """
    while True:
        begin, end = draw.permutation(N)[:2].tolist()
        table = draw.normal(N, N, scale=1.3).double()
        table[:, end] += ends
        plain = table.float().tolist()
        found, margin = searched(plain, fade, begin, end, width, max_length)
        whole = found[-1] != end
        if margin < LEAST or (lasting is not None and lasting != whole) or len(found) < 3:
            continue
        ways = [found]
        for way in apart:  # a way that finds what another has found ends the trial at once
            other, _ = searched(plain, fade, begin, end, width, max_length, way)
            if other in ways:
                break
            ways.append(other)
        else:
            return script(table.float(), begin, end, width, max_length, fade)


def undisputed(draw, N, width, max_length):
    """A script that searches a story in which whoever searches in one of the wrong ways finds the same: one token after
    another is nearly certain, and `end` is none of them."""
    while True:
        order = draw.permutation(N).tolist()
        begin, *path, end = order
        table = draw.normal(N, N).double()
        table[:, end] -= 12
        for here, there in zip([begin, *path], [*path, path[0]], strict=True):
            table[here, there] += 12
        found = [searched(table.float().tolist(), 0.0, begin, end, width, max_length, way)[0] for way in WAYS]
        if all(ids == found[0] for ids in found):
            return script(table.float(), begin, end, width, max_length)


def script(table, begin, end, width, max_length, fade=0.0):
    sizes = {"width": width, "max_length": max_length}
    s = Script(step=specimen("story", table=table, fade=fade), begin=begin, end=end, **sizes)
    s.call(SUBJECT, s.step, s.begin, s.end, s.width, s.max_length, name="ids")
    return s


def observed(s):
    width, max_length = s.inputs["width"], s.inputs["max_length"]
    size = len(s.inputs["step"].kwargs["table"])
    fading = ", which remembers all tokens" if s.inputs["step"].kwargs["fade"] else ""
    text = f"beam_search(step, {s.inputs['begin']}, {s.inputs['end']}, {width}, {max_length}); {size} tokens{fading}"
    return s.case(ref("ids")).described(text)


# 0 begins, 3 ends. By the likeliest step from 0 one comes to 1, after which nothing is likely.
GARDEN = torch.tensor(
    [[0.0, 0.5, 0.4, 0.1], [0.3, 0.2, 0.25, 0.25], [0.02, 0.04, 0.04, 0.9], [0.4, 0.3, 0.2, 0.1]]
).log()
GARDEN[0, 0] = -20.0
