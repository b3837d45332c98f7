"""`softmax_gradient_norm`: how much of a gradient softmax lets through, at given scores."""

import math

import torch

from grading.judge.exercise import call, exercise, non_contiguous

from ...shared import BUILT_IN
from ..common import more_than_nothing, next_to_nothing

softmax_gradient_norm = exercise(
    "softmax_gradient_norm",
    points=5,
    see="3. What saturation does to the gradient",
    forbidden=BUILT_IN,
    hints=(
        "The table J has a row for every weight and a column for every score. Which S entries follow one "
        "rule, and which follow the other?",
        "Both rules can be written as one: from a matrix that holds the weights on its diagonal and 0 elsewhere, take "
        "away the matrix of all products $w_i w_j$. Then square everything, add, and take the root.",
        "`weights = ...`, the softmax; `jacobian = ... - ...`, a diagonal matrix minus an outer product, `(S, S)`; "
        "`return ...`, its Frobenius norm, which PyTorch has too.",
    ),
)


@softmax_gradient_norm.oracle
def softmax_gradient_norm_oracle(scores):
    # From the entries: sum w_i^2 (1 - w_i)^2 + sum_{i != j} w_i^2 w_j^2 = s2 - 2 s3 + s2^2, s_n = sum w_i^n.
    # Of the right formulas this one loses most to cancellation, so its noise makes room for the others.
    weights = torch.softmax(scores, dim=0)
    squares = weights.pow(2).sum()
    return (squares - 2 * weights.pow(3).sum() + squares.pow(2)).clamp_min(0).sqrt()


softmax_gradient_norm.example("on paper: two equal scores", call(torch.tensor([0.0, 0.0])))
softmax_gradient_norm.example("on paper: 0 and log 3", call(torch.tensor([0.0, math.log(3.0)])))
softmax_gradient_norm.example(
    "three scores, and the gradient of the norm", call(torch.tensor([1.0, -0.5, 0.0])).with_gradients()
)
softmax_gradient_norm.example("large scores", call(torch.tensor([1000.0, 1000.0, 998.0])))


# Scores of moderate spread in float32: formulas that are all right differ by their cancellation where one weight
# is nearly 1 (w (1 - w) there loses a factor 1 / (1 - w) of precision). In float64 there is room for more.
@softmax_gradient_norm.criterion("the norm", points=1.5)
def _(draw):
    yield call(draw.normal(5))
    yield call(draw.normal(2))
    yield call(draw.normal(40, scale=0.7) - 3.0)
    yield call(torch.full((6,), draw.number(-2.0, 2.0)))
    yield call(non_contiguous(draw.normal(7)))


@softmax_gradient_norm.criterion("its own gradient", points=1.5)
def _(draw):
    yield call(draw.normal(6)).with_gradients()
    yield call(draw.normal(3) + 1.0).with_gradients()
    yield call(non_contiguous(draw.normal(9, dtype=torch.float64))).with_gradients()


# Quarters around 200 (1000 in float64), where exponentials overflow or vanish, are exact, so the weights are what they
# would be around 0; a formula by way of logsumexp, which rounds at that size, stays within the usual tolerance.
@softmax_gradient_norm.criterion("large scores", points=1)
def _(draw):
    few = torch.tensor([0.0, 0.25, -0.75, 1.5, -1.0])[draw.permutation(5)]
    yield call(few + 200.0)
    yield call(few - 200.0).with_gradients()
    yield call(few.double() + 1000.0)
    yield call(torch.tensor([300.0, 299.5, -2000.0, 0.0])[draw.permutation(4)]).with_gradients()
    yield call(draw.normal(5) + 4e3 * torch.arange(5.0)).holding(next_to_nothing)


@softmax_gradient_norm.criterion("a single score", points=0.5)
def _(draw):
    yield call(draw.normal(1)).holding(next_to_nothing)
    yield call(draw.normal(3)).holding(more_than_nothing)


@softmax_gradient_norm.criterion("float64, and arguments left as they were", points=0.5)
def _(draw):
    yield call(draw.normal(8, scale=2.0, dtype=torch.float64)).unchanged()
    yield call(draw.normal(4)).unchanged()
