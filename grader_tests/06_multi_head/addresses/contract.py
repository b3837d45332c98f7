"""`addresses`, a step: where in memory each entry of a tensor with three dimensions is."""

import torch

from grading.exercises.exercise import call, step

addresses = step(
    "addresses",
    see="Exercise: addresses (extra)",
    hints=(
        "What is the address of the entry `[1, 0, 2]`, with the strides (6, 2, 1)?",
        "The address of `[i, j, k]` is `i * strides[0] + j * strides[1] + k * strides[2]`. Three loops will do.",
        "Without loops: `torch.arange(size) * stride` for each dimension, then `a[:, None, None] + b[:, None] + c`.",
    ),
)


@addresses.oracle
def addresses_oracle(shape, strides):
    places = torch.zeros(tuple(shape), dtype=torch.int64)
    for dim, stride in enumerate(strides):
        along = [1] * len(shape)
        along[dim] = -1
        places = places + stride * torch.arange(shape[dim]).view(along)
    return places


addresses.example("the worked example", call((2, 2, 2), (2, 4, 1)))
addresses.example("in the order of memory", call((2, 3, 4), (12, 4, 1)))


@addresses.criterion("the address of every entry")
def _(draw):
    yield call((2, 3, 4), (12, 4, 1))
    yield call((3, 2, 4), (4, 12, 1))
    yield call((4, 3, 2), (1, 4, 12))
    yield call((1, 5, 2), (10, 2, 1))
    yield call((2, 3, 5), tuple(int(n) + 1 for n in draw.permutation(3)))
