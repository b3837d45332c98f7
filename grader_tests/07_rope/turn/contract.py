"""`turn`, a step: vectors of two numbers, turned by an angle."""

import math

import torch

from grading.exercises.exercise import call, step

turn = step(
    "turn",
    see="Exercise: turn by an angle",
    hints=(
        "What are `x[..., 0]` and `x[..., 1]`, and into which two numbers do they go?",
        "The shape of the code: `cos, sin = <both, of the angle>`, then `torch.stack([<new first>, <new second>], "
        "dim=-1)`. `math.cos` takes plain numbers.",
    ),
)


@turn.oracle
def turn_oracle(x, angle):
    matrix = [[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]]
    return x @ torch.tensor(matrix, dtype=x.dtype).mT


turn.example("the worked example", call(torch.tensor([2.0, 1.0]), math.pi / 2))
turn.example("three vectors", call(torch.tensor([[1.0, 0.0], [0.0, 1.0], [2.0, -1.0]]), 1.0))


@turn.criterion("turned counter-clockwise")
def _(draw):
    yield call(draw.normal(5, 2), draw.number(0.2, 1.2))
    yield call(draw.normal(2), -draw.number(0.2, 1.2))
    yield call(draw.normal(3, 4, 2, dtype=torch.float64), draw.number(3.5, 9.0))
    yield call(draw.normal(2, 2), draw.number(0.2, 1.2)).does_not_mutate()
    yield call(draw.normal(3, 2), draw.number(0.2, 1.2)).with_gradients()
