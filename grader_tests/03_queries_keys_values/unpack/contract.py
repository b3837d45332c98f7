"""`unpack`: W_q, W_k and W_v from the packed weight of `nn.MultiheadAttention`."""

import torch

from grading.exercises.exercise import call, step

unpack = step(
    "unpack",
    result_names=("W_q", "W_k", "W_v"),
    see="Exercise: matrices from a packed weight (extra)",
    hints=(
        "Which rows of the packed weight belong to the queries? There are three times as many rows as columns.",
        "Cut along the rows into three square parts. Each is stored as (out, in), and you need (in, out).",
        "`return tuple(<a part, transposed> for ... in packed.chunk(3))`.",
    ),
)


@unpack.oracle
def unpack_oracle(packed):
    width = packed.shape[1]
    return tuple(packed[n * width : (n + 1) * width].T for n in range(3))


unpack.example(
    "the worked example",
    call(torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0], [9.0, 10.0], [11.0, 12.0]])),
)
unpack.example("one number each", call(torch.tensor([[1.0], [2.0], [3.0]])))


@unpack.criterion("three matrices, as (in, out)")
def _(draw):
    yield call(draw.normal(12, 4))
    yield call(draw.normal(9, 3))
    yield call(draw.normal(6, 2))
