"""`chessboard`: 0 and 1, alternating along rows and columns."""

import torch

from grading.exercises.exercise import call, step

chessboard = step(
    "chessboard",
    forbidden=("stack", "cat", "meshgrid", "tensor", "repeat.*", "tile"),
    see="Exercise: a chessboard (extra)",
    hints=(
        "Add the row number and the column number of each square. Which squares have an even sum?",
        "A column of row numbers plus a row of column numbers is a table of these sums.",
        "Outline of the code: `return (<a column> + <a row>) % 2`.",
    ),
)


@chessboard.oracle
def chessboard_oracle(rows, columns):
    return torch.tensor([[(r + c) % 2 for c in range(columns)] for r in range(rows)])


chessboard.example("two rows of three", call(2, 3))
chessboard.example("three rows of four", call(3, 4))


@chessboard.criterion("0 and 1 in turn")
def _(draw):
    yield call(4, 6)
    yield call(5, 3)
    yield call(1, 7)
    yield call(6, 1)
