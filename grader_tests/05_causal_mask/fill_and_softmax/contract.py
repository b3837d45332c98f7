"""`fill_and_softmax`, a step: -inf in place of blocked scores, then softmax."""

import math

import torch

from grading.exercises.exercise import call, step

from ...shared import BUILT_IN
from ..common import some_open

fill_and_softmax = step(
    "fill_and_softmax",
    forbidden=BUILT_IN,
    see="Exercise: fill, then softmax",
    hints=(
        "You need two calls, one after the other. Which one replaces scores, and which one turns a row into weights?",
        "`scores.masked_fill(mask, value)` returns a new tensor with `value` where the mask is True. The "
        "softmax runs along the last dimension.",
    ),
)


@fill_and_softmax.oracle
def fill_and_softmax_oracle(scores, mask):
    return torch.softmax(torch.where(mask, -torch.inf, scores), dim=-1)


fill_and_softmax.example(
    "the worked example", call(torch.tensor([[0.0, math.log(3.0), 5.0]]), torch.tensor([[False, False, True]]))
)
fill_and_softmax.example(
    "two rows", call(torch.tensor([[2.0, 1.0], [2.0, 1.0]]), torch.tensor([[False, True], [False, False]]))
)
fill_and_softmax.example(
    "scores of minus two billion", call(torch.tensor([[-2e9, -2e9, 7.0]]), torch.tensor([[False, False, True]]))
)
fill_and_softmax.example(
    "gradients flow back",
    call(torch.tensor([[1.0, -2.0, 0.5]]), torch.tensor([[False, False, True]])).with_gradients(),
)


@fill_and_softmax.criterion("open keys share 1, blocked ones get 0")
def _(draw):
    yield call(draw.normal(4, 6, scale=2.0), some_open(draw, 4, 6))
    yield call(draw.normal(5, 3), some_open(draw, 5, 3))
    yield call(draw.normal(3, 4), torch.zeros(3, 4, dtype=torch.bool)).does_not_mutate()
    yield call(draw.normal(2, 5), some_open(draw, 2, 5)).does_not_mutate()
