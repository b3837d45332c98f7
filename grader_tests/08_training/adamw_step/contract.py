"""`adamw_step`, an exercise without points: one step of AdamW for one parameter."""

import torch

from grading.exercises.exercise import call, non_contiguous, step

adamw_step = step(
    "adamw_step",
    see="Exercise: `adamw_step(theta, gradient, m, v, n)` (extra)",
    hints=(
        "At step 0, m is 0.1 times the gradient, but the mean of one gradient is the gradient. By what do you divide "
        "m, at step 0 and at step n?",
        "First the two running means, then both divided by 1 minus a power of their β, then the parameter. The decay "
        "uses the old parameter, and is not divided by the root.",
        "The shape of the code: `m = beta_1 * … + (1 - beta_1) * …`, the same for v with squares; `update = <m "
        "corrected> / (<root of v corrected> + eps)`; return `theta - rate * (update + decay * theta), m, v`.",
    ),
)


@adamw_step.oracle
def adamw_step_oracle(theta, gradient, m, v, n, rate=1e-3, beta_1=0.9, beta_2=0.999, eps=1e-8, decay=0.01):
    m = torch.lerp(gradient, m, beta_1)
    v = torch.lerp(gradient.square(), v, beta_2)
    root = (v / (1 - beta_2 ** (n + 1))).sqrt() + eps
    return theta * (1 - rate * decay) - rate / (1 - beta_1 ** (n + 1)) * m / root, m, v


ZERO = torch.zeros(2)
adamw_step.example(
    "the first step of two parameters",
    call(torch.tensor([1.0, -2.0]), torch.tensor([4.0, -0.5]), ZERO, ZERO, 0, rate=0.1, decay=0.0),
)
adamw_step.example(
    "the worked example",
    call(*torch.tensor([[1.0], [3.0], [1.0], [7.0]]), 1, 0.1, 0.5, 0.5, 0.0, 0.5),
)
adamw_step.example(
    "a gradient of 0: only the decay is left",
    call(torch.tensor([3.0, -1.0]), ZERO, ZERO, ZERO, 4, rate=0.5, decay=0.1),
)
adamw_step.example(
    "the defaults, at step 9",
    call(*torch.tensor([[0.5, 2.0], [1.0, -3.0], [0.5, 0.25], [4.0, 1.0]]), 9),
)
adamw_step.example(
    "float64 stays float64",
    call(*torch.tensor([[0.5], [1.0], [0.5], [4.0]]).double(), 2),
    check_types=True,
)


def state(draw, *shape, **options):
    """A parameter, its gradient and two running means, the second positive."""
    theta, gradient, m = (draw.normal(*shape, **options) for _ in range(3))
    return theta, gradient, m, draw.uniform(*shape, low=0.5, high=2.0, **options)


@adamw_step.criterion("both running means, and the step that they give", points=0.75)
def _(draw):
    yield call(*state(draw, 5), 3, rate=0.1, decay=0.0)
    yield call(*state(draw, 2, 7), draw.integer(5, 20), rate=0.2, beta_1=0.8, beta_2=0.95, decay=0.0)
    yield call(*state(draw, 3), 0, rate=0.3, beta_1=0.6, beta_2=0.7, eps=0.5, decay=0.0)


@adamw_step.criterion("the means of the first steps", points=0.5)
def _(draw):
    theta, gradient, *_ = state(draw, 4)
    yield call(theta, gradient, torch.zeros(4), torch.zeros(4), 0, rate=0.1, decay=0.0)
    yield call(*state(draw, 6), 1, rate=0.1)
    yield call(*state(draw, 3), 2, 0.1, 0.5, 0.75, 0.25, 0.125)


@adamw_step.criterion("the decay", points=0.5)
def _(draw):
    theta, *_ = state(draw, 5)
    zero = torch.zeros(5)
    yield call(theta, zero, zero, zero, draw.integer(3, 9), rate=0.5, decay=0.3)
    yield call(*state(draw, 4), draw.integer(3, 9), rate=0.1, decay=0.4)
    yield call(*state(draw, 2, 3), n=draw.integer(3, 9), rate=1.0, decay=0.2)


@adamw_step.criterion("float64, any layout and device, nothing changed in place", points=0.25, check_types=True)
def _(draw):
    yield call(*state(draw, 5), 3)
    yield call(*state(draw, 4, dtype=torch.float64), 2, rate=0.1)
    yield call(*[non_contiguous(x) for x in state(draw, 3, 5)], 1, rate=0.1)
    yield call(*state(draw, 6), 4, rate=0.1).does_not_mutate()
    yield call(*state(draw, 3, 4), 5, rate=0.1).device_only()
