"""`slopes`: the gradient of a sum of cubes, by autograd."""

import torch

from grading.exercises.exercise import EXERCISE, Script, call, helper, step

slopes = step(
    "slopes",
    see="Exercise: slopes by autograd",
    hints=(
        "Which tensor should autograd watch, if `x` has to stay unchanged?",
        "Make the copy, compute one number from it, call `backward()` on that number. The gradient is in the copy.",
        "Outline of the code: `w = <the copy>`; `<the sum of its cubes>.backward()`; `return <its gradient>`.",
    ),
)


@slopes.oracle
def slopes_oracle(x):
    return 3 * x * x


def marked(x):
    """A script that calls `slopes` and then looks whether `x` was changed by autograd."""
    s = Script(x=x)
    s.call(EXERCISE, s.x)
    left = [s.call(helper("attribute"), s.x, what, name=what) for what in ("requires_grad", "grad")]
    return s.case(*left).label("whether x requires a gradient after the call, and which one it holds")


slopes.example("two numbers", call(torch.tensor([1.0, -2.0])))
slopes.example("x stays unchanged", marked(torch.tensor([1.0, -2.0])))


@slopes.criterion("the gradient of the sum of cubes")
def _(draw):
    yield call(draw.normal(5))
    yield call(draw.normal(2, 3))
    yield marked(draw.normal(3))
