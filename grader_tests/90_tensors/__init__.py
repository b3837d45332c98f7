"""The warm-up with tensors: shapes, broadcasting, sums, matrix products, gradients, modules, a step of training."""

EXERCISES = ("twice", "centre", "Line", "gradient_step")
STEPS = ("staircase", "shares", "running_means", "gaps", "chosen", "slopes")
