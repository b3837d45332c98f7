"""`softmax_gradient_norm`: the norm of the Jacobian of softmax at given scores."""

import math

import torch

from grading.exercises.exercise import call, exercise, non_contiguous

from ...shared import BUILT_IN
from ...shared.repeating import after

softmax_gradient_norm = exercise(
    "softmax_gradient_norm",
    see="3. What saturation does to the gradient",
    forbidden=BUILT_IN,
    hints=(
        "The Jacobian has one row per weight and one column per score. Which entries follow the first rule, and which "
        "follow the second?",
        "One formula covers both: take a matrix with the weights on its diagonal and 0 elsewhere, and subtract the "
        "matrix of all products $a_i a_j$. Then square all entries, add them, and take the square root.",
        "The shape of the code: `weights = ...`, the softmax; `jacobian = ... - ...`, a diagonal matrix minus an outer "
        "product, `(S, S)`; `return ...`, its Frobenius norm, which PyTorch has, too.",
    ),
)


@softmax_gradient_norm.oracle
def softmax_gradient_norm_oracle(scores):
    # The entries are w_i w_j and, on the diagonal, w_i (1 - w_i), where 1 - w_i is the sum of all others. With weights
    # over their common denominator nothing is subtracted, so nothing cancels, not even in the gradient.
    powers = (scores - scores.detach().max()).exp()
    apart = 1 - torch.eye(len(scores)).to(scores)
    table = powers[:, None] * (apart * powers + torch.diag(apart @ powers))
    size = table.detach().max()
    size = torch.where(size == 0, torch.ones_like(size), size)  # its square may underflow
    return size * (table / size).square().sum().sqrt() / powers.sum().square()


softmax_gradient_norm.example("on paper: two equal scores", call(torch.tensor([0.0, 0.0])))
softmax_gradient_norm.example("on paper: 0 and log 3", call(torch.tensor([0.0, math.log(3.0)])))
softmax_gradient_norm.example(
    "three scores, and the gradient of the norm", call(torch.tensor([1.0, -0.5, 0.0])).with_gradients()
)
softmax_gradient_norm.example(
    "float32 in, float32 out; float64 in, float64 out",
    call(torch.tensor([0.5, -0.5])),
    call(torch.tensor([0.1, -0.4, 0.0], dtype=torch.float64)),
    check_types=True,
)
softmax_gradient_norm.example("large scores", call(torch.tensor([1000.0, 1000.0, 998.0])))


@softmax_gradient_norm.criterion("the norm", points=1.5)
def _(draw):
    yield call(draw.normal(5))
    yield call(draw.normal(2))
    yield call(draw.normal(40, scale=0.7) - 3.0)
    yield call(torch.full((6,), draw.number(-2.0, 2.0)))
    # The norm of the second is less than half the first one's, with every seed
    yield after([0.5 * draw.uniform(3)], [0.5 * draw.uniform(3) + 3.0 * torch.eye(3)[0]])


@softmax_gradient_norm.criterion("its own gradient", points=1)
def _(draw):
    yield call(draw.normal(6)).with_gradients()
    yield call(draw.normal(3) + 1.0).with_gradients()


# Quarters around 200, where exponentials overflow or vanish, are exact, so the weights are the same as around 0. A
# formula with logsumexp, which rounds at that size, stays within the usual tolerance.
@softmax_gradient_norm.criterion("large scores", points=0.5)
def _(draw):
    few = torch.tensor([0.0, 0.25, -0.75, 1.5, -1.0])[draw.permutation(5)]
    yield call(few + 200.0)
    yield call(few - 200.0)
    yield call(torch.tensor([300.0, 299.5, -2000.0, 0.0])[draw.permutation(4)])
    yield call(draw.normal(5) + 4e3 * torch.arange(5.0)).check_with("negligible")


# At [12, 0, 0] one weight is nearly 1, and 1 - w, which is in all entries, has three digits in float32, so w (1 - w)
# cannot have more. A difference of sums of powers, whose square is below their rounding, has none.
@softmax_gradient_norm.criterion("lopsided and large scores, and their gradients", points=0.5)
def _(draw):
    few = torch.tensor([0.0, 0.25, -0.75, 1.5, -1.0])[draw.permutation(5)]
    yield call(few - 200.0).with_gradients()
    # The last weight is 0 in float32, as is every entry of its row
    yield call(torch.tensor([draw.number(0.5, 1.5), 0.0, -0.5, -300.0])).with_gradients()
    for ahead, room in ((9.0, 0.01), (12.0, 0.05)):
        yield call(ahead * torch.eye(3)[draw.integer(0, 3)]).with_gradients().tolerance(room, room)


@softmax_gradient_norm.criterion("a single score", points=0.5)
def _(draw):
    yield call(draw.normal(1)).check_with("negligible")
    yield call(draw.normal(3)).check_with("nonzero")


@softmax_gradient_norm.criterion("float64 stays float64, float32 float32, on any device", points=0.5, check_types=True)
def _(draw):
    yield call(draw.normal(4))
    yield call(draw.normal(4)).device_only()
    yield call(draw.normal(8, scale=2.0, dtype=torch.float64))
    yield call(torch.tensor([1000.0, 1000.25, 999.25, 1001.5], dtype=torch.float64))
    # 1 - w is 2e-13 at [30, 0, 0]: it has three digits in float64
    for ahead, room in ((18.0, 1e-6), (30.0, 0.01)):
        yield call(torch.tensor([ahead, 0.0, 0.0], dtype=torch.float64)).tolerance(room)


@softmax_gradient_norm.criterion("arguments, contiguous or not, stay as they were", points=0.5)
def _(draw):
    yield call(draw.normal(4)).does_not_mutate()
    yield call(non_contiguous(draw.normal(7))).does_not_mutate()
