"""`to_half_split`, a step: pairs of neighbours reordered into two halves."""

import torch

from grading.exercises.exercise import call, non_contiguous, step

to_half_split = step(
    "to_half_split",
    see="Exercise: `to_half_split(x)`",
    hints=(
        "Where does x2 go, if x has six numbers? And x1?",
        "First all numbers with an even index, then all with an odd one. A slice with a step picks every second number "
        "of the last dimension.",
        "`torch.cat([x[..., …], x[..., …]], dim=…)`, with two slices of step 2.",
    ),
)


@to_half_split.oracle
def to_half_split_oracle(x):
    dim = x.shape[-1]
    return x.index_select(-1, torch.tensor([*range(0, dim, 2), *range(1, dim, 2)], device=x.device))


to_half_split.example("six numbers", call(torch.tensor([0.0, 1.0, 2.0, 3.0, 4.0, 5.0])))
to_half_split.example(
    "two vectors of eight numbers, with gradients; nothing is to be changed",
    call(torch.arange(16.0).reshape(2, 8)).with_gradients().does_not_mutate(),
)
to_half_split.example("a single pair", call(torch.tensor([7.0, -1.0])), check_types=True)


@to_half_split.criterion("one vector")
def _(draw):
    for dim in (2, 4, 6, 8, 14, 64):
        yield call(draw.normal(dim))


@to_half_split.criterion("any leading dimensions")
def _(draw):
    for shape in ((5, 6), (3, 4, 10), (2, 3, 5, 8), (1, 2, 3, 1, 6)):
        yield call(draw.normal(*shape))
    yield call(draw.normal(6, 6))  # like a weight: its rows do not move


@to_half_split.criterion("gradients")
def _(draw):
    yield call(draw.normal(8)).with_gradients()
    yield call(draw.normal(3, 4, 6)).with_gradients()


@to_half_split.criterion("float64, any layout and device, arguments left alone", check_types=True)
def _(draw):
    # entries only move, but a detour by float32 would round them, by up to 6e-8 of their size
    yield call(draw.normal(2, 3, 6, dtype=torch.float64)).tolerance(1e-12).does_not_mutate()
    yield call(draw.normal(4, 10)).does_not_mutate()
    yield call(draw.normal(2, 8)).device_only()
    yield call(non_contiguous(draw.normal(3, 8))).does_not_mutate()
    yield call(draw.normal(2, 5, 3, 6).transpose(1, 2)).does_not_mutate()
