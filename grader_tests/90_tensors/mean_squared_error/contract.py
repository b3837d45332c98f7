"""`mean_squared_error`: the mean of the squared differences."""

import torch

from grading.exercises.exercise import call, step

mean_squared_error = step(
    "mean_squared_error",
    forbidden=("mse_loss",),
    see="Exercise: the loss (extra)",
    hints=(
        "What are the errors of the predictions 1 and 2, if 4 and 2 are correct? Their squares? The mean of those?",
        "In this order: differences, squares, mean. `.square()` and `.mean()` do the last two.",
        "Outline of the code: `return (<differences>).square().<…>`.",
    ),
)


@mean_squared_error.oracle
def mean_squared_error_oracle(predictions, y):
    return ((predictions - y) ** 2).sum() / len(y)


mean_squared_error.example("two examples", call(torch.tensor([1.0, 2.0]), torch.tensor([4.0, 2.0])))
mean_squared_error.example(
    "gradients flow back", call(torch.tensor([1.0, 2.0]), torch.tensor([4.0, 2.0])).with_gradients()
)


@mean_squared_error.criterion("the mean of the squared errors")
def _(draw):
    yield call(draw.normal(5), draw.normal(5))
    yield call(draw.normal(3), draw.normal(3)).with_gradients()
    yield call(draw.normal(1), draw.normal(1))
