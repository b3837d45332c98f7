"""`who_sees_whom`, a step: the mask of a function, measured."""

import torch

from grading.exercises.exercise import call, sample_model, step

from ...shared import BUILT_IN
from ..sees_the_future.cases import future, near

who_sees_whom = step(
    "who_sees_whom",
    forbidden=BUILT_IN,
    see="Exercise: who sees whom (extra)",
    hints=(
        "Your detector measures how much later inputs move an output. Which other pairs do you need for a whole map?",
        "With the Jacobian of shape (T, D, T, D): take magnitudes, then the largest over both D. What is left "
        "is (T, T), with outputs in rows. Where is it practically 0?",
        "Without the Jacobian: change one entry of input `j` at a time, compare all outputs, and fill column `j`. If "
        "any entry of output `i` moves, cell (i, j) is False.",
    ),
)


@who_sees_whom.oracle
def who_sees_whom_oracle(attention, x):
    jacobian = torch.autograd.functional.jacobian(attention, x)
    return jacobian.abs().amax((1, 3)) < 1e-5


def mixture(matrix, **options):
    return sample_model("mixture", matrix=torch.tensor(matrix), **options)


who_sees_whom.example(
    "token 0 added to token 1", call(mixture([[1.0, 0.0], [1.0, 1.0]]), torch.eye(2)), check_types=True
)
who_sees_whom.example(
    "token 2 taken from token 0", call(mixture([[1.0, 0.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), torch.eye(3))
)
who_sees_whom.example("only token 0", call(mixture([[1.0, 0.0], [1.0, 0.0]]), torch.ones(2, 3)))


@who_sees_whom.example("one feature of the other token")
def _():
    features = torch.zeros(3, 3)
    features[1, 2] = 1.0
    yield call(mixture([[0.0, 1.0], [1.0, 0.0]], features=features), torch.ones(2, 3))


@who_sees_whom.example("entries that move against each other")
def _():
    features = torch.tensor([[1.0, -1.0], [-1.0, 1.0]])
    yield call(mixture([[0.0, 1.0], [1.0, 1.0]], features=features), torch.eye(2))


@who_sees_whom.criterion("a mask (T, T), True where nothing moves")
def _(draw):
    yield call(sample_model("biased_attention", bias=future(5)), near(draw, 5, 4))
    yield call(sample_model("biased_attention", bias=future(4, ahead=1)), near(draw, 4, 3))
    matrix = draw.normal(6, 6) * draw.chance(0.5, 6, 6)
    yield call(sample_model("mixture", matrix=matrix), draw.normal(6, 2)).does_not_mutate()
