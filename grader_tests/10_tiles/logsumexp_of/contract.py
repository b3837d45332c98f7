"""`logsumexp_of`: the logarithm of a sum of exponentials, without overflow."""

import math

import torch

from grading.exercises.exercise import call, exercise, non_contiguous

from ...shared import INF
from ...shared.elsewhere import filled_elsewhere
from ...shared.repeating import after
from ..common import NOT_ALLOWED, WIDE, sum_far_out

logsumexp_of = exercise(
    "logsumexp_of",
    see="Exercise: `logsumexp_of(scores)`",
    forbidden=NOT_ALLOWED,
    hints=(
        "What is the logarithm of `exp(m) * total`? Which m would make sure that no exponential in `total` is above 1?",
        "Subtract the largest score of each row, take exponentials, sum, take the logarithm, and add that largest "
        "score again. In a row of nothing but −∞ the largest score is −∞, and −∞ − (−∞) is NaN: subtract a 0 there. "
        "Then ask what `log(0)` is, and what its gradient would be.",
        "The shape of the code: `highest = <largest of each row, kept>`, where that is −∞ a 0 in its place; `total = "
        "<sum of exp(scores − highest)>`; replace `total` by 1 in the rows that are empty, take `highest + "
        "log(total)`, and fill those rows with −∞ at the end.",
    ),
)


@logsumexp_of.oracle
def logsumexp_of_oracle(scores):
    highest = scores.amax(-1, keepdim=True)
    empty = highest.isneginf()
    highest = highest.masked_fill(empty, 0.0).detach()
    total = torch.exp(scores - highest).sum(-1, keepdim=True).masked_fill(empty, 1.0)
    return (highest + total.log()).masked_fill(empty, -math.inf).squeeze(-1)


def with_gaps(x, *places):
    """Set entries of `x` to -inf: `places` has a tuple of indices for each row."""
    for row, gaps in zip(x.view(-1, x.shape[-1]), places, strict=True):
        row[list(gaps)] = -INF
    return x


logsumexp_of.example("the one on paper", call(torch.tensor([1.0, 2.0, 5.0]).log()))
logsumexp_of.example("two rows", call(torch.tensor([[2.0, 0.0, -1.0, 1.0], [0.5, -3.0, 0.5, 2.0]])))
logsumexp_of.example("a thousand is not too much", call(torch.tensor([[1000.0, 1001.0], [-1000.0, -1001.0]])))
logsumexp_of.example("minus infinity adds nothing", call(torch.tensor([[0.0, -INF, 1.0], [-INF, -INF, -INF]])))
logsumexp_of.example(
    "float32 in, float32 out; float64 in, float64 out",
    call(torch.tensor([0.5, 0.2, -0.3])),
    call(torch.tensor([0.1, 0.2, -0.4], dtype=torch.float64)),
    check_types=True,
)


@logsumexp_of.criterion("the logarithm of the sum", points=0.5)
def _(draw):
    yield call(draw.uniform(7, low=-3.0, high=3.0))
    yield call(draw.normal(5))
    yield call(draw.uniform(5, low=-6.0, high=-1.0)).label("five negative scores")
    yield call(torch.full((300,), draw.number(-2.0, 2.0))).label("300 equal scores")
    yield call(torch.tensor([draw.number(1.0, 2.0)])).label("a single score")
    yield after([draw.normal(4)], [draw.normal(4)])


@logsumexp_of.criterion("many rows", points=0.5)
def _(draw):
    yield call(draw.uniform(4, 6, low=-3.0, high=2.0))
    yield call(draw.normal(2, 3, 5))
    yield call(draw.normal(1, 4))
    yield call(draw.normal(2, 1, 5))
    yield call(draw.normal(3, 1)).label("rows of one score each")
    yield call(draw.normal(2, 3, 4, 5))
    # Each row has its own level, so that the maximum of all does not help
    yield call(draw.normal(4, 5) + torch.tensor([400.0, -400.0, 0.0, 200.0])[:, None])


@logsumexp_of.criterion("scores of any size", points=0.5)
def _(draw):
    yield call(400.0 + draw.normal(5))
    yield call(draw.normal(5) - 400.0)
    yield call(torch.tensor([1e4, -1e4, 9999.0, 1e4]))
    yield call(torch.tensor([-1e4, -9999.0, -9998.0]))
    for level in (1e4, -1e4):
        near = torch.tensor([[-1.0, 0.0, 0.0, -0.5], [0.0, -2.0, -1.0, 0.0]])
        yield sum_far_out(level + near, level=torch.tensor(level), path=())
    yield call(torch.tensor([1.5e38, -1.5e38, 1.0]))
    yield call(torch.tensor([-3e38, -2e38, -3e38]))
    # One score is far greater, at any position
    wide = draw.normal(3, 40)
    wide[torch.arange(3), draw.integers(0, 40, 3)] += 200.0
    yield from map(call, wide)


@logsumexp_of.criterion("minus infinity adds nothing", points=0.5)
def _(draw):
    yield from map(call, with_gaps(draw.normal(4, 6), (2,), (0, 5), (0, 1, 2, 4, 5), (1, 3)))
    yield call(torch.full((4,), -INF)).label("nothing but scores of -inf")
    yield call(with_gaps(300.0 + draw.normal(3, 5), (0, 2), range(5), (4,))).label("a row of nothing but -inf")
    # A finite score instead, however low, adds something if the others are as low
    for level in (-1e3, -1e4):
        yield sum_far_out(with_gaps(torch.full((4,), level), (1, 3)), level=torch.tensor(level), path=())


@logsumexp_of.criterion("gradients, 0 where nothing was added", points=0.5)
def _(draw):
    yield call(draw.normal(5)).with_gradients()
    yield call(300.0 + draw.normal(2, 3, 4)).with_gradients()
    yield call(torch.tensor([0.0, -120.0, 1.0, -300.0]) + draw.uniform(4)).with_gradients()
    yield call(with_gaps(draw.normal(3, 6), (2,), range(6), (0, 1, 5))).with_gradients()
    # A missing gradient (of a constant) is as good as one of 0: only NaN is wrong
    yield (
        call(torch.full((2, 3), -INF))
        .with_gradients()
        .check_with("finite_gradients")
        .label("nothing but scores of -inf")
    )


@logsumexp_of.criterion("float64, any layout and device, arguments left alone", points=0.5, check_types=True)
def _(draw):
    yield call(draw.normal(4)).does_not_mutate()
    yield call(draw.normal(3, 5, dtype=torch.float64))
    yield call(draw.normal(5, dtype=torch.float64)).tolerance(*WIDE).label("a vector in float64")
    yield call(non_contiguous(draw.normal(2, 4, 3))).does_not_mutate()
    yield call(with_gaps(draw.normal(2, 5), (2,), range(5))).does_not_mutate()
    yield call(draw.normal(3, 4)).device_only()
    yield filled_elsewhere("logsumexp_of", draw.normal(3, 4))
