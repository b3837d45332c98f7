"""`staircase`: True on the diagonal and below it."""

import torch

from grading.exercises.exercise import call, step

staircase = step(
    "staircase",
    forbidden=("tril.*", "triu.*", "stack", "cat", "meshgrid", "tensor", "repeat.*"),
    see="Exercise: a staircase",
    hints=(
        "How do you see from the numbers of row and column whether an entry is below the diagonal?",
        "Compare a row of column numbers with a column of row numbers.",
        "Outline of the code: `return <a row> <= <a column>`.",
    ),
)


@staircase.oracle
def staircase_oracle(n):
    return torch.ones(n, n).tril().bool()


staircase.example("three steps", call(3))


@staircase.criterion("True where the column is at most the row")
def _(draw):
    yield call(5)
    yield call(1)
