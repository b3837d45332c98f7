"""`rms_norm`, a step: every vector divided by its root mean square, times a gain."""

import torch

from grading.exercises.exercise import call, step

rms_norm = step(
    "rms_norm",
    see="Exercise: normalise without a mean",
    hints=(
        "Of which numbers do you take the mean: those of one position, or of all? Is the mean taken before or after "
        "squaring?",
        "Square x, take the mean over the last dimension and keep that dimension, add 1e-6, and take the root. "
        "Divide x by it.",
        "The shape of the code: `mean_of_squares = x.square().mean(dim=…, keepdim=…)`, "
        "then `x / (… + 1e-6).sqrt() * …`.",
    ),
)


@rms_norm.oracle
def rms_norm_oracle(x, gain):
    return x * (x.pow(2).sum(-1, keepdim=True) / x.shape[-1] + 1e-6).rsqrt() * gain


rms_norm.example("the worked example", call(torch.tensor([3.0, 1.0]), torch.tensor([1.0, 2.0])))
rms_norm.example(
    "three vectors",
    call(torch.tensor([[1.0, 7.0, 0.0], [0.002, 0.0, -0.001], [0.0, 0.0, 0.0]]), torch.tensor([2.0, 1.0, 0.5])),
)


@rms_norm.criterion("divided by the root mean square, times the gain")
def _(draw):
    yield call(draw.normal(4, 6, scale=3.0), draw.normal(6))
    yield call(draw.normal(5), draw.normal(5))
    yield call(draw.normal(2, 3, 8) + 2.0, draw.normal(8)).does_not_mutate()
    yield call(draw.normal(3, 4, scale=1e-3), draw.normal(4))
    yield call(draw.normal(2, 3, 5, 7, dtype=torch.float64), draw.normal(7, dtype=torch.float64))
    yield call(draw.normal(3, 5), draw.normal(5)).with_gradients()
