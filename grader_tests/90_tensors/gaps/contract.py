"""`gaps`: every number of one list minus every number of another."""

import torch

from grading.exercises.exercise import call, step

gaps = step(
    "gaps",
    forbidden=("stack", "cat", "tensor", "meshgrid", "cartesian_prod", "outer", "cdist", "repeat.*", "vmap"),
    see="Exercise: a table of gaps",
    hints=(
        "In which direction does `a` run in the table, down or across? And `b`?",
        "A column and a row stretch to form a table. `a[:, None]` is the column.",
        "Outline of the code: `return <the row> - <the column>`.",
    ),
)


@gaps.oracle
def gaps_oracle(a, b):
    return b.unsqueeze(0) - a.unsqueeze(1)


gaps.example("two and three numbers", call(torch.tensor([0.0, 10.0]), torch.tensor([1.0, 2.0, 3.0])))
gaps.example("two and two numbers", call(torch.tensor([1.0, 2.0]), torch.tensor([5.0, 9.0])))


@gaps.criterion("every entry of b minus every entry of a")
def _(draw):
    yield call(draw.normal(3), draw.normal(5))
    yield call(draw.normal(4), draw.normal(4))
    yield call(draw.normal(1), draw.normal(3))
