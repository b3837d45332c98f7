"""`exp_and_divide`, a step: the formula of softmax for one list, word for word."""

import torch

from grading.exercises.exercise import call, step

from ..common import NOT_ALLOWED

exp_and_divide = step(
    "exp_and_divide",
    see="Exercise: exponentiate, then divide",
    forbidden=NOT_ALLOWED,
    hints=(
        "What do you do with each score by itself, and what with all of them together?",
        "`torch.exp(x)` takes the exponential of every entry. Divide the result by its sum.",
    ),
)


@exp_and_divide.oracle
def exp_and_divide_oracle(x):
    exponentials = torch.exp(x)  # no stronger than the contract: large scores are the exercise after it
    return exponentials / exponentials.sum()


exp_and_divide.example("the worked example", call(torch.tensor([1.0, 2.0, 5.0]).log()))
exp_and_divide.example("four scores", call(torch.tensor([-1.0, 2.0, 0.0, 0.5])))
exp_and_divide.example("gradients flow back", call(torch.tensor([1.0, -2.0, 0.5])).with_gradients())


@exp_and_divide.criterion("positive weights that sum to 1")
def _(draw):
    yield call(draw.normal(6))
    yield call(draw.normal(4, dtype=torch.float64))
    yield call(draw.normal(5)).does_not_mutate()
