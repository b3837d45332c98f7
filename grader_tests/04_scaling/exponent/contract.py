"""`exponent`, a step: the exponent of a power law, from its first and last point."""

import torch

from grading.exercises.exercise import call, step

exponent = step(
    "exponent",
    see="Exercise: the exponent (extra)",
    hints=(
        "Which two quotients do you need, and what do you do with them before you divide one by the other?",
        "`y[-1] / y[0]` is how much y grows, `x[-1] / x[0]` how much x does. Divide their logarithms.",
    ),
)


@exponent.oracle
def exponent_oracle(x, y):
    return (y[-1] / y[0]).log() / (x[-1] / x[0]).log()


exponent.example("the worked example", call(torch.tensor([1.0, 4.0, 16.0]), torch.tensor([3.0, 6.0, 12.0])))
exponent.example("y falls", call(torch.tensor([2.0, 4.0, 8.0]), torch.tensor([8.0, 2.0, 0.5])))
exponent.example("y stays the same", call(torch.tensor([2.0, 4.0]), torch.tensor([5.0, 5.0])))


# Exact power laws, so that every way to fit a line gives the same exponent
@exponent.criterion("the exponent of a power law")
def _(draw):
    x = torch.tensor([1.0, 4.0, 16.0, 64.0])
    for power in (0.5, 1.0, -1.5, draw.number(0.3, 2.0)):
        yield call(x, draw.number(0.5, 3.0) * x**power)
        yield call(3.0 * x, 7.0 * x**power)
    yield call(x, 2.0 * x).does_not_mutate()
