"""`soft_cap`: scores between -cap and cap, by tanh; a blocked score stays blocked."""

import math

import torch

from grading.exercises.exercise import call, exercise, non_contiguous

from ...shared.repeating import after

soft_cap = exercise(
    "soft_cap",
    see="Exercise: `soft_cap(scores, cap)`",
    hints=(
        "What does `tanh` make of 0.1, of 100 and of −∞? Which of the three results do you not want?",
        "Divide by the cap, take `tanh`, multiply by the cap. A score of −∞ would become −cap, so that a blocked key "
        "would be seen: put −∞ back where it was.",
        "`torch.tanh` works on each entry. `masked_fill` takes a boolean tensor, such as the one that `isneginf` makes "
        "of the scores, and a number. A number that is filled in has the gradient 0; a score that is passed on has the "
        "gradient 1.",
    ),
)


@soft_cap.oracle
def soft_cap_oracle(scores, cap):
    if not cap > 0:
        raise ValueError(f"cap is {cap}, and must be greater than 0")
    blocked = scores == -math.inf
    open_scores = scores.masked_fill(blocked, 0.0)
    ratio = open_scores / cap
    # Exact near 0, and without an exponential that overflows
    below, above = torch.expm1(2 * ratio.clamp(max=0.0)), torch.expm1(-2 * ratio.clamp(min=0.0))
    bent = torch.where(ratio < 0, below / (below + 2), -above / (above + 2))
    return (bent * cap).masked_fill(blocked, -math.inf)


soft_cap.example(
    "a small score, two large ones and a blocked one",
    call(torch.tensor([0.1, 100.0, -30.0, -math.inf]), 5.0),
    check_types=True,
)
soft_cap.example("with gradients", call(torch.tensor([[0.0, 2.0], [-math.inf, 8.0]]), 4.0).with_gradients())
soft_cap.example("a cap of 0", call(torch.tensor([1.0]), 0.0).raises("cap"))


def some_blocked(draw, *shape, scale=1.0, **options):
    """Random scores, a third of which are -inf."""
    scores = draw.normal(*shape, scale=scale, **options)
    blocked = draw.chance(0.3, *shape)
    blocked.view(-1)[:2] = torch.tensor([True, False])
    return scores.masked_fill(blocked, -math.inf)


@soft_cap.criterion("scores of any size are capped, and -inf stays -inf", points=0.5)
def _(draw):
    for cap in (1.0, 5.0, 50.0, 0.25):
        yield call(draw.normal(4, 6, scale=10.0), cap)
    yield call(draw.normal(3, 5, scale=0.1), cap=20)
    yield call(draw.normal(2, 3, 4, 5, scale=1e4), 30.0)
    yield call(torch.tensor([[-1e10, -1e30, 1e30, 0.5]]), 5.0).label("scores of -1e30 and 1e30")
    yield call(some_blocked(draw, 4, 7, scale=8.0), 3.0)
    yield call(some_blocked(draw, 2, 3, 5, scale=30.0), 50.0)
    yield call(torch.full((3,), -math.inf), 2.0).label("a row of -inf")
    yield call(torch.tensor(draw.number(2.0, 4.0)), 2.5).label("a single number, without dimensions")
    yield after((draw.normal(3, 4), 2.0), (draw.normal(3, 4), 2.0))


@soft_cap.criterion(
    "gradients, ValueError; float64, any layout and device, arguments left alone", points=0.5, check_types=True
)
def _(draw):
    yield call(draw.normal(4, 6, scale=3.0), 4.0).with_gradients()
    yield call(some_blocked(draw, 2, 5, 4, scale=3.0), 4.0).with_gradients("finite")
    yield call(draw.normal(3, 5), 0.0).raises("cap")
    yield call(draw.normal(3, 5), -draw.number(1.0, 9.0)).raises("cap")
    yield call(draw.normal(3, 5), cap=draw.number(0.01, 0.5)).does_not_raise()
    yield call(some_blocked(draw, 3, 5, scale=3.0, dtype=torch.float64), 2.0)
    yield call(some_blocked(draw, 3, 5, scale=3.0), 2)
    yield call(non_contiguous(some_blocked(draw, 4, 6, scale=3.0)), 2.0).does_not_mutate()
    yield call(some_blocked(draw, 4, 6), 2.0).device_only()
