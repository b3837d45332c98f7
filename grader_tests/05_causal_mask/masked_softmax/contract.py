"""`masked_softmax`: softmax over what is open; 0 where everything is blocked."""

import math

import torch

from grading.exercises.exercise import call, exercise, non_contiguous

from ...shared import BUILT_IN
from ..common import some_open

masked_softmax = exercise(
    "masked_softmax",
    forbidden=BUILT_IN,
    see="Exercise: `masked_softmax(scores, mask)`",
    hints=(
        "Which number in place of a blocked score makes its weight exactly 0, whatever the others are? And "
        "what does softmax give for a row that holds nothing else?",
        "Fill the blocked scores of a row only if something in it is open. A row without an open key may keep "
        "its scores, if you set its weights to 0 afterwards. So no NaN ever appears, not even in the backward "
        "pass.",
        "`mask.all(dim=-1, keepdim=True)` finds the rows with nothing to see. In all other rows, fill the blocked "
        "scores with -inf. Take the softmax, and put 0 wherever the mask is True. `masked_fill` broadcasts its mask, "
        "and returns a new tensor.",
    ),
)


@masked_softmax.oracle
def masked_softmax_oracle(scores, mask):
    mask = mask.expand(scores.shape)
    highest = scores.masked_fill(mask, -float("inf")).amax(-1, keepdim=True)
    highest = torch.where(torch.isinf(highest), torch.zeros_like(highest), highest)
    parts = torch.exp(torch.where(mask, -float("inf"), scores) - highest.detach())
    total = parts.sum(-1, keepdim=True)
    return parts / torch.where(total == 0, torch.ones_like(total), total)


masked_softmax.example(
    "the last of three blocked", call(torch.tensor([[0.0, math.log(3.0), 5.0]]), torch.tensor([[False, False, True]]))
)


@masked_softmax.example("one row of two fully blocked")
def _():
    scores = torch.tensor([[0.0, math.log(3.0)], [0.0, math.log(3.0)]])
    yield call(scores, torch.tensor([[False, False], [True, True]])).with_gradients()


@masked_softmax.example("one mask for two sentences", check_types=True)
def _():
    scores = torch.tensor([[[1.0, 1.0, 1.0]], [[0.0, math.log(3.0), 7.0]]])
    yield call(scores, torch.tensor([False, False, True]))


masked_softmax.example(
    "a blocked score that is huge", call(torch.tensor([[-2e9, 1e15, -3e9]]), torch.tensor([[False, True, False]]))
)


@masked_softmax.criterion("open keys share 1, blocked ones get 0", points=1)
def _(draw):
    yield call(draw.normal(4, 6, scale=2.0), some_open(draw, 4, 6))
    yield call(draw.normal(3, 5, scale=3.0), some_open(draw, 3, 5))
    yield call(draw.normal(6, 4), torch.zeros(6, 4, dtype=torch.bool))
    yield call(draw.normal(5, 5), torch.ones(5, 5, dtype=torch.bool).triu(1))
    yield call(draw.normal(2, 7), some_open(draw, 2, 7))


@masked_softmax.criterion("masks that broadcast", points=1)
def _(draw):
    scores = draw.normal(2, 3, 4, 5, scale=2.0)
    yield call(scores, some_open(draw, 4, 5))
    yield call(scores, some_open(draw, 2, 1, 1, 5))
    yield call(scores, some_open(draw, 1, 1, 4, 5))
    yield call(scores, some_open(draw, 3, 1, 5))
    yield call(scores, some_open(draw, 2, 3, 4, 5))
    yield call(draw.normal(1, 2, 3, 4, 5), some_open(draw, 2, 1, 1, 5))  # three leading dimensions, a batch of one
    yield call(draw.normal(4, 6), some_open(draw, 6))
    yield call(draw.normal(3, 2, 6), some_open(draw, 1, 6))
    yield call(draw.normal(2, 1, 5), some_open(draw, 1, 5))
    yield call(draw.normal(2, 3, 5), torch.tensor([[False], [True], [False]]))


@masked_softmax.criterion("fully blocked rows are 0", points=1)
def _(draw):
    mask = some_open(draw, 4, 6)
    mask[2] = True
    yield call(draw.normal(4, 6), mask)
    yield call(draw.normal(3, 4, 6, dtype=torch.float64), mask)
    yield call(draw.normal(2, 3, 4, 5), torch.tensor([3, 0])[:, None, None, None] <= torch.arange(5))
    yield call(draw.normal(2, 5, 3), torch.ones(5, 3, dtype=torch.bool))
    yield call(draw.normal(3, 1), torch.tensor([[True], [False], [True]]))


@masked_softmax.criterion("scores up to 1e15, blocked ones too", points=1)
def _(draw):
    mask = some_open(draw, 4, 6)
    ordinary = draw.normal(4, 6)
    yield call(ordinary.masked_fill(mask, 1e15), mask)
    yield call(ordinary.masked_fill(mask, -1e15), mask)
    yield call(ordinary.masked_fill(mask, 1e3), mask)  # a fill with -1e9 is right here, but zeroing afterwards is not
    yield call(draw.normal(3, 4, 6, scale=1e10), mask)
    yield call(draw.uniform(3, 4, 6, low=-1e15, high=1e15), mask)
    # Open scores far below any finite number that an answer might use for blocked ones
    yield call(draw.uniform(4, 6, low=-1e15, high=-2e14).masked_fill(mask, 1e15), mask)
    yield call(torch.full((4, 6), -1e15), mask)
    for least in (-2e6, -2e11):  # these distinguish fills with -1e4, -1e9 and -1e15
        yield call(draw.uniform(4, 6, low=least, high=least / 2), mask)


@masked_softmax.criterion("gradients, never NaN", points=0.5)
def _(draw):
    mask = some_open(draw, 4, 6)
    yield call(draw.normal(4, 6), mask).with_gradients()
    yield call(draw.normal(2, 3, 4, 5), some_open(draw, 2, 1, 1, 5)).with_gradients()
    blocked = mask.clone()
    blocked[1] = True
    yield call(draw.normal(3, 4, 6), blocked).with_gradients()
    yield call(draw.normal(4, 6, dtype=torch.float64), blocked).with_gradients()
    yield call(draw.normal(4, 6).masked_fill(blocked, 1e15), blocked).with_gradients()
    yield call(draw.normal(2, 4, 3), torch.tensor([[False], [True], [True], [False]])).with_gradients()


@masked_softmax.criterion("float64, any layout and device, arguments left alone", points=0.5, check_types=True)
def _(draw):
    # Scores near 60 have six digits after the point in float32, so computing in it shows
    yield call(draw.normal(2, 7, dtype=torch.float64) + 60.0, some_open(draw, 2, 7))
    yield call(non_contiguous(draw.normal(2, 3, 4, 5)), non_contiguous(some_open(draw, 2, 3, 4, 5)))
    yield call(draw.normal(4, 6), some_open(draw, 4, 6)).does_not_mutate()
    yield call(draw.normal(3, 5), some_open(draw, 3, 5)).device_only()
    yield call(draw.normal(3, 4, 6), torch.ones(4, 6, dtype=torch.bool)).does_not_mutate()
