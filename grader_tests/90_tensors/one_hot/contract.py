"""`one_hot`: a 1 in the column that each number names."""

import torch

from grading.exercises.exercise import call, step

one_hot = step(
    "one_hot",
    forbidden=("one_hot", "eye", "diag.*", "scatter.*", "index_.*", "tensor", "stack", "cat", "zeros.*"),
    see="Exercise: one-hot rows (extra)",
    hints=(
        "Row `t` has its 1 in the column whose number equals `ids[t]`. What do you compare with what?",
        "Compare a column of ids with a row of column numbers.",
        "Outline of the code: `return (<a column> == <a row>).float()`.",
    ),
)


@one_hot.oracle
def one_hot_oracle(ids, n):
    return torch.eye(n)[ids]


one_hot.example("two ids, three columns", call(torch.tensor([2, 0]), 3))


@one_hot.criterion("1 in the column ids[t], 0 elsewhere")
def _(draw):
    yield call(torch.tensor([1, 4, 0, 1, 2, 3]), 5)
    yield call(torch.tensor([3, 0, 2]), 4)
    yield call(torch.tensor([3, 1, 2, 1]), 4)
    yield call(draw.integers(0, 7, 4), 7)
