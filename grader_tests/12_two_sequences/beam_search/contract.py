"""`beam_search`: the most probable of the sequences that stay among the best at each length."""

import torch

from grading.exercises.exercise import EXERCISE, exercise, helper, ref

from .cases import (
    BEST_AT_LAST,
    EACH_ITS_MEASURE,
    ENDING,
    GARDEN,
    KEEPING,
    ROUNDING,
    WINNING,
    observed,
    script,
    telling,
    undisputed,
)

beam_search = exercise(
    "beam_search",
    see="6. What greedy does not find",
    hints=(
        "With a width of 2, two sentences go on from each length to the next. How many candidates are there for the "
        "next length, and which two of them, from whichever sentence they came, are kept?",
        "Keep pairs of a sum of log-probabilities and a list of ids. Each round: ask `step` for every running one, "
        "collect all continuations, sort, keep `width`. Those among them that end with `end` are done and go into a "
        "list of their own; the others run on. At the end the best mean wins, among the done and those still running.",
        "For each running `(total, ids)` and each token `i` with its `p`, `(total + p, [*ids, i])` is a candidate; "
        "`best = sorted(candidates, …)[:width]`; then share `best` out. The mean divides by the tokens after `begin`: "
        "`len(ids) - 1`.",
    ),
)


@beam_search.oracle
def beam_search_oracle(step, begin, end, width, max_length):
    for name, number in (("width", width), ("max_length", max_length)):
        if number < 1:
            raise ValueError(f"{name} is {number}; it is at least 1")
    sums, live, ended = torch.zeros(1, dtype=torch.float64), [[begin]], []
    for length in range(1, max_length + 1):
        if not live:
            break
        following = torch.stack([step(ids).double().cpu() for ids in live])
        found = (sums[:, None] + following).flatten().topk(min(width, following.numel()))
        rows = [divmod(i, following.shape[1]) for i in found.indices.tolist()]
        grown = [([*live[row], token], total) for (row, token), total in zip(rows, found.values.tolist(), strict=True)]
        ended += [(total / length, ids) for ids, total in grown if ids[-1] == end or length == max_length]
        going = [(ids, total) for ids, total in grown if ids[-1] != end]
        live, sums = [ids for ids, _ in going], torch.tensor([total for _, total in going], dtype=torch.float64)
    return max(ended)[1]


@beam_search.example("greedy, along the likeliest step", check_types=True)
def _():
    text = "beam_search(step, 0, 3, width=1, max_length=3), the table above"
    yield script(GARDEN, 0, 3, 1, 3).case(ref("ids")).label(text)


@beam_search.example("two at a time find the way by 2")
def _():
    text = "beam_search(step, 0, 3, width=2, max_length=3), the table above"
    yield script(GARDEN, 0, 3, 2, 3).case(ref("ids")).label(text)


@beam_search.example("one token, and no end in sight")
def _():
    text = "beam_search(step, 0, 3, width=2, max_length=1), the table above"
    yield script(GARDEN, 0, 3, 2, 1).case(ref("ids")).label(text)


@beam_search.example("more at a time than there are tokens")
def _():
    text = "beam_search(step, 2, 0, width=9, max_length=2), the table above"
    yield script(GARDEN, 2, 0, 9, 2).case(ref("ids")).label(text)


for _name, _sizes in {"a width of 0": (0, 3), "a length of 0": (2, 0)}.items():
    _text = f"beam_search(step, 0, 3, {_sizes[0]}, {_sizes[1]})"
    beam_search.example(
        _name, script(GARDEN, 0, 3, *_sizes).case(ref("ids")).label(_text).raises("width", "max_length")
    )


@beam_search.criterion("a width of 1 is greedy, up to end or max_length", points=0.5)
def _(draw):
    for N, max_length, ends, lasting, apart in (
        (5, 9, -0.5, False, ("one more", "ended apart")),
        (7, 8, 0.0, False, ("one more", "past end")),
        (6, 4, -1.0, True, ("one more",)),
        (4, 7, -2.0, True, ("one more",)),
    ):
        yield observed(telling(draw, N, 1, max_length, apart=apart, lasting=lasting, ends=ends))
    yield observed(telling(draw, 6, 1, 6, fade=0.6, apart=("last id", "no begin")))
    table = draw.normal(5, 5)
    table[2, 4] = 9.0
    yield observed(script(table, 2, 4, 1, 5))  # it ends at once
    yield observed(script(table, 2, 0, 1, 1))  # a single token


# An answer with one error loses only the points for it: stories that test which sequences are kept give the same result
# with every rule for the winner, and the other way round.


@beam_search.criterion("the width best at each length, from whichever they came", points=2)
def _(draw):
    for N, width, max_length, fade, apart in (
        (6, 2, 5, 0.0, ("greedy",)),
        (5, 3, 6, 0.0, ("greedy",)),
        (8, 4, 4, 0.0, ("greedy",)),
        (6, 2, 5, 0.5, ("greedy", "each its own")),
        (5, 3, 6, 0.5, ("greedy", "each its own")),
        (8, 4, 4, 0.5, ("greedy", "each its own")),
        (6, 2, 5, 0.0, ("one more", "ended apart")),
        (6, 2, 5, 0.0, ("greedy", "near")),
        (6, 2, 5, 0.0, ("greedy", "probabilities")),
        (6, 3, 5, 0.7, ("greedy", "last id", "no begin")),
    ):
        alike = (*ENDING, *WINNING)
        yield observed(
            telling(draw, N, width, max_length, apart=apart, alike=alike, lasting=True, fade=fade, ends=-1.0)
        )
    # An ended sequence counts towards the width at its length
    apart, alike = ("ended beside", "past end"), (*ENDING[:-1], *(way for way in WINNING if way != "unended only"))
    yield observed(telling(draw, 6, 2, 5, apart=apart, alike=alike, lasting=False, ends=1.0))
    # Long and unlikely: float32 cannot represent the probability, nor float16 the sum. No sequence ends before. The
    # width is 1, because answers that keep too many sequences would not finish with 2
    yield observed(telling(draw, 30, 1, 45, apart=ROUNDING, ends=-12.0, scale=0.3))


@beam_search.criterion("the best mean wins, whether it has ended or not", points=1)
def _(draw):
    kept = [way for way in KEEPING if way not in ("greedy", "last alone")]
    for plan, width, max_length, apart, alike in (
        (EACH_ITS_MEASURE, 3, 7, ("sum", "begin counts", "root"), ()),
        (BEST_AT_LAST, 3, 7, ("full", "first end", "behind"), ("begin counts", "root", "end free")),
    ):
        yield observed(telling(draw, 6, width, max_length, apart=apart, alike=(*kept, *alike), plan=plan))
    for N, width, max_length, ends, lasting, apart, alike in (
        (5, 2, 6, 0.5, None, ("end free", "begin counts", "sum"), ()),
        (6, 3, 7, 0.5, None, ("power",), ("begin counts",)),
        (5, 3, 6, 1.0, False, ("first end", "one less", "end free"), ()),
        (6, 2, 5, 0.5, True, ("ended only", "once more"), ()),
        (6, 2, 5, 1.0, False, ("unended only", "end free"), ()),
        (6, 3, 6, 1.0, None, ("shrinks", "past end"), ()),
        (6, 3, 6, 1.0, None, ("shrinks", "stays"), ()),
        (6, 3, 6, 1.0, None, ("stays by its mean",), ()),
        (5, 3, 6, 1.0, None, ("first end alone", "sum"), ()),
        (6, 3, 6, 1.0, False, ("likeliest", "sum"), ("end free",)),
        (6, 3, 6, 1.0, False, ("likeliest", "unended only"), ()),
        (4, 30, 3, 0.5, None, ("sum", "begin counts"), ()),  # wider than the number of sequences
    ):
        more = {"apart": apart, "alike": (*kept, *alike), "ends": ends, "lasting": lasting}
        yield observed(telling(draw, N, width, max_length, **more))


@beam_search.criterion(
    "a list of plain ints, ValueError unless width and max_length are at least 1, what step returns left alone",
    points=0.5,
    check_types=True,
)
def _(draw):
    yield observed(undisputed(draw, 5, 1, 6))
    yield observed(undisputed(draw, 6, 2, 4))
    s = undisputed(draw, 5, 2, 4)
    s.call(helper("bases"), ref("ids"), name="kinds")  # a tuple, an array or a tensor is not a list
    yield s.case(ref("kinds")).label("what the result of beam_search is")
    s = undisputed(draw, 5, 2, 4)
    s.call(EXERCISE, s.step, begin=s.begin, end=s.end, width=2, max_length=4, name="named")
    yield s.case(ref("named")).label("beam_search with its arguments by name")
    table = draw.normal(5, 5)
    for width in (1, 3):
        s = script(table, 1, 3, width, 4, kept=True)
        for token in range(5):  # the row of `begin` itself may stay unchanged, because its sum is 0
            s.call(s.step, [token], name=f"after {token}")
        rows = [ref(f"after {token}") for token in range(5)]
        yield s.case(*rows).label(f"what step returns, after beam_search with a width of {width}")
    for width, max_length, wrong in ((0, 4, "width"), (-2, 3, "width"), (2, 0, "max_length"), (3, -1, "max_length")):
        case = script(table, 1, 3, width, max_length).case(ref("ids"))
        yield case.raises(wrong).label(f"beam_search(step, 1, 3, {width}, {max_length})")
    yield script(table, 1, 3, 1, 1).case(ref("ids")).does_not_raise().label("beam_search(step, 1, 3, 1, 1)")
