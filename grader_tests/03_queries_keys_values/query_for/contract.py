"""`query_for`: a query with which attention gives chosen keys equal weights."""

import math

import torch

from grading.exercises.exercise import EXERCISE, Script, method, non_contiguous, step

from .cases import case, conditioned, crowded, weights_of

query_for = step(
    "query_for",
    see="8. Design a query (extra)",
    hints=(
        "Which scores should the targets have, and which the other keys? Write down the vector of wanted scores, one "
        "number per key, before you think of the query.",
        "The scores are `keys @ query`. You know the keys and you know the scores that you want: that is a system of "
        "linear equations for the query. `keys` need not be square, so choose a solver that does not need it to be.",
        "Make a vector of S zeros with the dtype of the keys, write a number of 10 or more at the targets, and "
        "multiply a matrix that undoes `keys` by it: the pseudo-inverse, `torch.linalg.pinv`.",
    ),
)


@query_for.oracle
def query_for_oracle(keys, targets):
    # e^c * m / (e^c * m + S - m) is 0.995, in the middle of the allowed range
    others = max(len(keys) - len(targets), 1)
    wanted = keys.new_zeros(len(keys))
    wanted[torch.tensor(targets)] = math.log(0.995 / 0.005 * others / len(targets))
    inner, mixing = torch.linalg.qr(keys.mT)
    return inner @ torch.linalg.solve_triangular(mixing.mT, wanted[:, None], upper=False)[:, 0]


query_for.example("the worked example", weights_of([[1.0, 0.0], [1.0, 1.0]], [0]))
query_for.example(
    "one of three slanted keys, which have four numbers",
    weights_of([[1.0, 0.0, 0.0, 1.0], [2.0, 1.0, 0.0, 0.0], [0.0, 1.0, 1.0, 0.0]], [0]),
)


query_for.example(
    "float32 in, float32 out; float64 in, float64 out",
    *(weights_of([[2.0, 0.0], [0.5, 1.0]], [1], dtype) for dtype in (torch.float32, torch.float64)),
    check_types=True,
)


@query_for.example("two of three keys: their weights' difference and their sum")
def _():
    keys, targets = [[2.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 3.0]], [2, 0]
    s = Script(keys=torch.tensor(keys), both=torch.tensor([[1.0, 1.0], [0.0, 0.0], [-1.0, 1.0]]))
    query = s.call(method(s.call(EXERCISE, s.keys, targets, name="query"), "type_as"), s.keys)
    scores = s.call(method(s.keys, "matmul"), query, name="scores")
    weights = s.call(method(scores, "softmax"), 0, name="weights")
    s.call(method(weights, "matmul"), s.both, name="difference_and_sum")
    # 0.001 for the difference, which is 0, and 0.005 for the sum, which is 0.995
    yield (
        s.case()
        .tolerance(0.00405, 0.001)
        .label(
            f"[w[0] - w[2], w[0] + w[2]] of w = softmax(keys @ query, 0) with query = query_for(keys, {targets}), "
            f"keys = {keys}; a difference to 0.001 and a sum to 0.005 are right"
        )
    )


@query_for.criterion("one value")
def _(draw):
    yield case(crowded(draw, 5, 5, first=3), 3)
    yield case(crowded(draw, 4, 4, first=0), 2)
    yield case(conditioned(draw, 6, 6, 8.0, torch.float32, scale=2.0), draw.integer(0, 6))
    yield case(3 * torch.eye(3)[draw.permutation(3)], draw.integer(0, 3))


@query_for.criterion("the average of several values")
def _(draw):
    yield case(crowded(draw, 5, 5, first=1), 4, 1)
    yield case(crowded(draw, 6, 6, first=2), *draw.permutation(6)[:3])
    yield case(conditioned(draw, 7, 7, 8.0, torch.float32, scale=3.0), *draw.permutation(7)[:4])
    yield case(torch.diag(torch.tensor([1.0, 2.0, 0.5, 3.0])), 2, 0)
    # So many that a score divided among them is too small
    yield case(crowded(draw, 12, 12, first=8), 8, 3, 11, 0, 5, 6)


@query_for.criterion("fewer keys than dimensions")
def _(draw):
    # No keys with equal or empty columns: lstsq's default driver may then get the rank wrong, and a right answer would
    # lose (https://github.com/pytorch/pytorch/issues/187411).
    yield case(crowded(draw, 3, 6, first=1), 1)
    yield case(crowded(draw, 4, 7, first=0), 3, 0)
    yield case(crowded(draw, 5, 9, first=4), 1, 4, 2)
    yield case(conditioned(draw, 2, 5, 6.0, torch.float32), draw.integer(0, 2))


@query_for.criterion("keys of any length")
def _(draw):
    yield case(conditioned(draw, 4, 6, 8.0, torch.float32), 0, 2)
    yield case(1e-5 * crowded(draw, 5, 5, first=0), 3, 1)
    yield case(300.0 * crowded(draw, 4, 5, first=3), 2, 0)
    yield case(conditioned(draw, 4, 5, 10.0, torch.float32, scale=300.0), 3, 0, 1)


@query_for.criterion("float64 stays float64, float32 float32, on any device", check_types=True)
def _(draw):
    yield case(crowded(draw, 4, 5, first=1), 2)
    yield case(crowded(draw, 4, 5, first=1), 2).device_only()
    # Near the limit only in float64, where any solver has digits to spare. In float32, one that squares the
    # condition number (KKᵀ) would have few digits left, and with a large score even fewer.
    yield case(conditioned(draw, 5, 7, 90.0, torch.float64), 3, 1)
    yield case(conditioned(draw, 6, 6, 90.0, torch.float64, scale=5.0), draw.integer(0, 6))


@query_for.criterion("many keys, one key, or all of them")
def _(draw):
    yield case(crowded(draw, 20, 26, first=7), 11)
    yield case(draw.normal(1, 4), 0)
    yield case(torch.tensor([[draw.number(0.5, 2.0)]]), 0)
    yield case(crowded(draw, 4, 6, first=2), 2, 0, 3, 1)


@query_for.criterion("arguments, contiguous or not, stay as they were")
def _(draw):
    for count, width, wanted, laid in (
        (12, 12, [7, 2, 10, 0, 5, 8], torch.clone),  # enough for scores of 100,000 to show always
        (3, 5, [1], torch.clone),
        (4, 6, [3], non_contiguous),
    ):
        keys = laid(crowded(draw, count, width, first=wanted[0]))
        s = Script(keys=keys, targets=wanted)
        result = s.call(EXERCISE, s.keys, s.targets, name="result")
        observed = s.case(result, s.targets).check_with("query_retrieves_targets", keys=keys, targets=wanted, pure=True)
        observed = observed.does_not_mutate()
        which = "" if keys.is_contiguous() else ", which are not contiguous,"
        yield observed.label(f"query_for for {count} keys{which} and its arguments afterwards")
