"""Lesson 00: shapes, broadcasting, sums, matrix products, gradients, modules, a step of training."""

EXERCISES = ("twice", "centre", "Line", "gradient_step")
STEPS = (
    "gaps",
    "chessboard",
    "staircase",
    "shares",
    "running_means",
    "one_hot",
    "chosen",
    "swap_neighbours",
    "slopes",
    "mean_squared_error",
)
