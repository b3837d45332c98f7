"""Known mistakes in `slopes`."""

from ...shared.families import results
from .contract import slopes

right = slopes.reference_answer("""
def slopes(x):
    w = x.detach().clone().requires_grad_()
    (w**3).sum().backward()
    return w.grad
""")

right.mistake("marks_the_callers_tensor", {"x.detach().clone()": "x"}).feedback(
    "You switch gradients on in `x` itself, and leave a gradient in it. Work on a copy: `x.detach().clone()`."
)
right.mistake("squares", {"w**3": "w**2"}).feedback("You add up squares. The sum is of cubes, `w**3`.")
right.mistake(
    "returns_the_sum", {"    (w**3).sum().backward()\n    return w.grad": "    return (w**3).sum().detach()"}
).feedback("You return the sum of the cubes. Return its gradient, which `backward()` stores in `.grad`.")
right.mistake("takes_the_mean", {".sum()": ".mean()"}).feedback(
    "You take the gradient of the mean. The gradient of the sum has no division by the number of entries."
)
right.mistake("returns_the_copy", {"w.grad": "w.detach()"}).feedback("You return the copy. Its gradient is in `.grad`.")
right.mistake("calls_backward_twice", {"    return": "    (w**3).sum().backward()\n    return"}).feedback(
    "You call `backward()` twice, and gradients add up: yours is twice as large as it should be."
)
right.mistake(
    results.nothing_returned, {"    (w**3).sum().backward()\n    return w.grad": "    return (w**3).sum().backward()"}
).feedback("You return None. `backward()` returns nothing; it stores the gradient in `.grad`.")
