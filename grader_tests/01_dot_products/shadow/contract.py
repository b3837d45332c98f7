"""`shadow`, a step: the signed length of one vector's projection on another."""

import torch

from grading.exercises.exercise import call, step

from ..common import a_pair

shadow = step(
    "shadow",
    see="Exercise: the shadow (extra)",
    hints=(
        "The dot product is the length of `a` times the length of the shadow. Which two of these three can you "
        "compute?",
        "The length of `a` is the square root of `dot(a, a)`. Divide by it once.",
        "The shape of the code: `length = <the root of a · a>`, then `return <a · b> / length`.",
    ),
)


@shadow.oracle
def shadow_oracle(a, b):
    return (b * a).sum() / (a * a).sum().sqrt()


shadow.example("the worked example", call(torch.tensor([3.0, 4.0]), torch.tensor([5.0, 0.0])))
shadow.example("a shadow that points away from a", call(torch.tensor([0.0, 2.0]), torch.tensor([7.0, -3.0])))
shadow.example("three entries", call(torch.tensor([2.0, 1.0, 2.0]), torch.tensor([1.0, 5.0, -2.0])))


@shadow.criterion("the signed length of the shadow")
def _(draw):
    for length, sign in ((4, 1.0), (6, -1.0), (1, -1.0)):
        a, b = a_pair(draw, length, sign=sign)
        yield call(3 * a, 0.5 * b)
    yield call(*a_pair(draw, 5)).with_gradients()
