"""`masked_softmax`, a step: softmax over what is open, where every row has an open key."""

import math

import torch

from grading.exercises.exercise import call, non_contiguous, step

from ...shared import BUILT_IN
from ..common import some_open

masked_softmax = step(
    "masked_softmax",
    forbidden=BUILT_IN,
    see="Exercise: `masked_softmax(scores, mask)`",
    hints=(
        "You need two calls, one after the other. Which one replaces scores, and which one turns a row into weights?",
        "`scores.masked_fill(mask, value)` returns a new tensor with `value` where the mask is True, and lets the mask "
        "broadcast. The softmax runs along the last dimension.",
    ),
)


@masked_softmax.oracle
def masked_softmax_oracle(scores, mask):
    mask = mask.expand(scores.shape)
    highest = scores.masked_fill(mask, -float("inf")).amax(-1, keepdim=True)
    parts = torch.exp(torch.where(mask, -float("inf"), scores) - highest.detach())
    return parts / parts.sum(-1, keepdim=True)


masked_softmax.example(
    "the last of three blocked", call(torch.tensor([[0.0, math.log(3.0), 5.0]]), torch.tensor([[False, False, True]]))
)
masked_softmax.example(
    "two rows", call(torch.tensor([[2.0, 1.0], [2.0, 1.0]]), torch.tensor([[False, True], [False, False]]))
)


@masked_softmax.example("one mask for two sentences", check_types=True)
def _():
    scores = torch.tensor([[[1.0, 1.0, 1.0]], [[0.0, math.log(3.0), 7.0]]])
    yield call(scores, torch.tensor([False, False, True]))


masked_softmax.example(
    "a blocked score that is huge", call(torch.tensor([[-2e9, 1e15, -3e9]]), torch.tensor([[False, True, False]]))
)
masked_softmax.example(
    "gradients flow back",
    call(torch.tensor([[1.0, -2.0, 0.5]]), torch.tensor([[False, False, True]])).with_gradients(),
)


@masked_softmax.criterion("open keys share 1, blocked ones get 0")
def _(draw):
    yield call(draw.normal(4, 6, scale=2.0), some_open(draw, 4, 6))
    yield call(draw.normal(3, 5, scale=3.0), some_open(draw, 3, 5))
    yield call(draw.normal(6, 4), torch.zeros(6, 4, dtype=torch.bool))
    yield call(draw.normal(5, 5), torch.ones(5, 5, dtype=torch.bool).triu(1))
    yield call(draw.normal(2, 7), some_open(draw, 2, 7))


@masked_softmax.criterion("masks that broadcast")
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


@masked_softmax.criterion("scores up to 1e15, blocked ones too")
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


@masked_softmax.criterion("gradients")
def _(draw):
    mask = some_open(draw, 4, 6)
    yield call(draw.normal(4, 6), mask).with_gradients()
    yield call(draw.normal(2, 3, 4, 5), some_open(draw, 2, 1, 1, 5)).with_gradients()
    yield call(draw.normal(4, 6).masked_fill(mask, 1e15), mask).with_gradients()


@masked_softmax.criterion("float64, any layout and device, arguments left alone", check_types=True)
def _(draw):
    # Scores near 60 have six digits after the point in float32, so computing in it shows
    yield call(draw.normal(2, 7, dtype=torch.float64) + 60.0, some_open(draw, 2, 7))
    yield call(non_contiguous(draw.normal(2, 3, 4, 5)), non_contiguous(some_open(draw, 2, 3, 4, 5)))
    yield call(draw.normal(4, 6), some_open(draw, 4, 6)).does_not_mutate()
    yield call(draw.normal(3, 5), some_open(draw, 3, 5)).device_only()
