"""`running_means`: the mean of each row and all rows before it."""

import torch

from grading.exercises.exercise import call, step

running_means = step(
    "running_means",
    forbidden=("cum.*", "stack", "cat", "tril.*", "triu.*"),
    see="Exercise: means so far",
    hints=(
        "Write the mean of the first three of five rows as a mix of all five. How much of each row do you need?",
        "The rows of your staircase say which rows count. Turn each of them into shares.",
        "Outline of the code: `return <shares of a staircase of floats> @ x`.",
    ),
)


@running_means.oracle
def running_means_oracle(x):
    return x.cumsum(0) / torch.arange(1, len(x) + 1, dtype=x.dtype)[:, None]


running_means.example("three rows", call(torch.tensor([[2.0, 0.0], [4.0, 8.0], [9.0, 1.0]])))


@running_means.criterion("the mean of all rows up to each")
def _(draw):
    yield call(draw.normal(5, 3))
    yield call(draw.normal(4, 4))
    yield call(draw.normal(1, 2))
