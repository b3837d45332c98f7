"""`gradient_step`: the weights after one step down the gradient of a mean squared error."""

import torch

from grading.exercises.exercise import EXERCISE, Script, call, exercise, helper, method, non_contiguous, ref

gradient_step = exercise(
    "gradient_step",
    see="Exercise: `gradient_step(weights, x, y, rate)`",
    hints=(
        "What do you compute between the weights and the one number of the loss? Which argument should autograd watch?",
        "Watch a copy, `weights.detach().clone().requires_grad_()`: predictions `x @ w`, the mean of their squared "
        "differences from `y`, `backward()`. Then step against the gradient in `w.grad`.",
        "Outline of the code: `w = <the copy>`; `loss = (<predictions> - y)<squared, mean>`; `loss.…()`; "
        "`return <the old weights> - <rate> * <gradient>`.",
    ),
)


@gradient_step.oracle
def gradient_step_oracle(weights, x, y, rate):
    with torch.no_grad():
        errors = x @ weights - y
        return weights - rate * 2 * (errors @ x) / len(y)


PAPER = (torch.tensor([0.0, 0.0]), torch.tensor([[1.0, 0.0], [1.0, 2.0]]), torch.tensor([2.0, 4.0]), 0.5)

gradient_step.example("the one on paper", call(*PAPER))
gradient_step.example("the arguments stay as they were", call(*PAPER).does_not_mutate())
gradient_step.example(
    "three examples, a small rate",
    call(
        torch.tensor([1.0, -1.0]),
        torch.tensor([[1.0, 2.0], [0.0, 1.0], [3.0, 1.0]]),
        torch.tensor([1.0, 0.0, 2.0]),
        0.1,
    ),
)
gradient_step.example(
    "float32 in, float32 out; float64 in, float64 out",
    call(*PAPER),
    call(*(one.double() for one in PAPER[:3]), 0.5),
    check_types=True,
)


def problem(draw, examples, width, dtype=torch.float32):
    """Weights, x, y."""
    shapes = ((width,), (examples, width), (examples,))
    return tuple(draw.normal(*shape, dtype=dtype) + 0.3 for shape in shapes)


def steps(draw, times):
    """A script of several steps, each from the result of the last."""
    weights, x, y = problem(draw, 5, 3)
    s = Script(weights=weights, x=x, y=y)
    last = s.weights
    for number in range(times):
        s.call(EXERCISE, last, s.x, s.y, 0.1, name="made")
        last = s.call(method(ref("made"), "to"), s.x, name=f"step{number}")  # another criterion checks the dtype
    return s


@gradient_step.criterion("one step downhill", points=2.25)
def _(draw):
    yield call(*problem(draw, 4, 3), 0.1)
    yield call(*problem(draw, 7, 2), 0.3)
    yield call(*problem(draw, 3, 3), 1.0).label("three examples of three numbers")


@gradient_step.criterion("any number of examples and weights, any rate", points=1, tries="any")
def _(draw):
    yield call(*problem(draw, 1, 4), 0.2)
    yield call(*problem(draw, 6, 1), 0.2)
    yield call(*problem(draw, 1, 1), 0.2)
    yield call(*problem(draw, 40, 12), 0.05)
    yield call(*problem(draw, 5, 3), 0.0)


@gradient_step.criterion("one step after another", points=1)
def _(draw):
    yield steps(draw, 3).case(ref("step2")).label("three steps, each from where the last one led")
    s = steps(draw, 1)
    s.call(EXERCISE, s.weights, s.x, s.y, 0.1, name="again")
    yield s.case(ref("again")).tries("purity").label("the second of two steps from the same weights")


@gradient_step.criterion("float64 stays float64, float32 float32, on any device", points=0.5, check_types=True)
def _(draw):
    yield call(*problem(draw, 4, 3), 0.1)
    yield call(*problem(draw, 4, 3), 0.1).device_only()
    yield call(*problem(draw, 4, 3, torch.float64), 0.1)


@gradient_step.criterion("arguments, contiguous or not, stay as they were", points=1)
def _(draw):
    yield call(*problem(draw, 4, 3), 0.1).does_not_mutate()
    weights, x, y = problem(draw, 5, 2)
    yield call(weights, non_contiguous(x), y, 0.1).does_not_mutate()
    # `requires_grad_` changes a tensor, too, and `backward` leaves a gradient in it
    s = Script(weights=weights, x=x, y=y)
    s.call(EXERCISE, s.weights, s.x, s.y, 0.1)
    left = [s.call(helper("attribute"), s.weights, what, name=what) for what in ("requires_grad", "grad")]
    what = "whether weights require a gradient after the call, and which one they hold"
    yield s.case(*left).tries("purity").label(what)


@gradient_step.sizes(points=0.25, B=(1, 4, 100), D=(1, 3, 100), rate=(0.0, 0.1, 1.0))
def _(draw, B, D, rate):
    return call(*problem(draw, B, D), rate)
