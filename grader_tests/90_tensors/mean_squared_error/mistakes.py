"""Known mistakes in `mean_squared_error`."""

from ...shared.families import results
from .contract import mean_squared_error

right = mean_squared_error.reference_answer("""
def mean_squared_error(predictions, y):
    return (predictions - y).square().mean()
""")

right.mistake("adds_up", {".mean()": ".sum()"}).feedback("You return the sum of the squared errors. Take their mean.")
right.mistake("takes_the_root", {".mean()": ".mean().sqrt()"}).feedback(
    "You take the square root of the mean. The loss is the mean itself."
)
right.mistake("squares_the_mean", {".square().mean()": ".mean().square()"}).feedback(
    "You take the mean before you square, so positive and negative errors cancel. Square each error first."
)
right.mistake("takes_absolute_errors", {".square()": ".abs()"}).feedback(
    "You average the absolute errors. Square them instead."
)
right.mistake("does_not_square", {".square()": ""}).feedback(
    "You do not square the errors, so positive and negative ones cancel."
)
right.mistake("halves_it", {".mean()": ".mean() / 2"}).feedback("You return half the mean. Return the mean.")
right.mistake("returns_each", {".mean()": ""}).feedback(
    "You return the squared error of each example. The loss is one number, their mean."
)
right.mistake(results.python_number, {".mean()": ".mean().item()"})
