"""`chosen`: one entry of each row, at a given column."""

import torch

from grading.exercises.exercise import call, step

chosen = step(
    "chosen",
    forbidden=("gather", "take.*", "diag.*", "stack", "cat", "index_select"),
    see="Exercise: one entry per row",
    hints=(
        "In which rows and which columns are the entries that you want? Write both as lists.",
        "Two lists in an index go in pairs: the first entry of one with the first of the other.",
        "Outline of the code: `return x[<the numbers of all rows>, <the columns>]`.",
    ),
)


@chosen.oracle
def chosen_oracle(x, columns):
    return x.gather(1, columns[:, None])[:, 0]


chosen.example("two rows", call(torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), torch.tensor([2, 0])))
chosen.example(
    "four rows", call(torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]), torch.tensor([1, 1, 0, 1]))
)


@chosen.criterion("the entry of each row at its column")
def _(draw):
    yield call(draw.normal(5, 3), torch.tensor([2, 0, 1, 1, 2]))
    yield call(draw.normal(4, 4), torch.tensor([3, 0, 1, 1]))
    yield call(draw.normal(3, 6), draw.integers(0, 6, 3))
