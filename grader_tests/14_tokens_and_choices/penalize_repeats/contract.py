"""`penalize_repeats`: lower logits for tokens that have occurred."""

import torch

from grading.exercises.exercise import call, exercise, non_contiguous

penalize_repeats = exercise(
    "penalize_repeats",
    see="Exercise: `penalize_repeats(logits, ids, penalty)`",
    hints=(
        "Divide 4 by 2, and -4 by 2. Which of the two makes a token less probable?",
        "A positive logit is divided and any other one multiplied, so that both go down. Do it for the tokens that "
        "occur in `ids`, once each, and leave all others as they are.",
        "Three steps: the lowered logit of every token, (N,), with `torch.where`; a boolean tensor, (N,), that is True "
        "for the tokens in `ids`; and a second `torch.where` that chooses between lowered and given logits.",
    ),
)


@penalize_repeats.oracle
def penalize_repeats_oracle(logits, ids, penalty):
    if not penalty > 0:
        raise ValueError(f"penalty is {penalty}; it must be above 0")
    seen = (torch.arange(len(logits), device=ids.device)[:, None] == ids).any(-1)
    factor = torch.full_like(logits, penalty)
    factor = torch.where(logits > 0, 1 / factor, factor)
    return logits * torch.where(seen, factor, torch.ones_like(factor))


penalize_repeats.example("one up, one down", call(torch.tensor([4.0, -4.0, 3.0]), torch.tensor([0, 1]), 2.0))
penalize_repeats.example("however often", call(torch.tensor([8.0, 1.0]), torch.tensor([0, 0, 0]), 2.0))
penalize_repeats.example("nothing has occurred", call(torch.tensor([1.0, 2.0]), torch.empty(0, dtype=torch.int64), 2.0))
penalize_repeats.example("no penalty", call(torch.tensor([1.0, 2.0]), torch.tensor([1]), 0.0).raises("penalty"))
penalize_repeats.example(
    "float64 stays float64", call(torch.tensor([4.0, -4.0]).double(), torch.tensor([1]), 2.0), check_types=True
)


def mixed(draw, N, **options):
    """Logits of both signs, none of them near 0, in a random order."""
    signs = torch.ones(N)
    signs[::2] = -1
    return (draw.uniform(N, low=0.5, high=3.0) * signs[draw.permutation(N)]).to(**options)


def some(draw, N, T):
    """T ids below N, of which one occurs several times and one not at all."""
    order = draw.permutation(N)
    return torch.cat([order[:1].repeat(2), order[draw.integers(0, N - 1, T - 2)]])[draw.permutation(T)]


@penalize_repeats.criterion("lower logits, once for each token that has occurred", points=0.25)
def _(draw):
    for penalty in (1.2, 2.0, 5.0):
        yield call(mixed(draw, 6), draw.permutation(6)[:3], penalty)
    yield call(mixed(draw, 7), some(draw, 7, 5), 1.5).tries("once")
    yield call(mixed(draw, 5), some(draw, 5, 20), 2).tries("once")
    yield call(mixed(draw, 6), some(draw, 6, 4), draw.number(0.3, 0.8)).tries("penalty", "once")
    yield call(mixed(draw, 6), some(draw, 6, 4), 1.0)
    yield call(mixed(draw, 4), draw.permutation(4), 3.0)
    for sign in (1, -1):  # one test of the sign for all logits, or all repeated ones, is right for one of the two
        yield call(sign * draw.uniform(5, low=0.5, high=3.0), draw.permutation(5)[:3], 1.5)


@penalize_repeats.criterion(
    "no ids, a logit of 0 or -inf, gradients, float64, any layout and device", points=0.25, check_types=True
)
def _(draw):
    yield call(mixed(draw, 5), torch.empty(0, dtype=torch.int64), 2.0).tries("empty")
    mix = draw.permutation(6)
    row = torch.tensor([0.0, -torch.inf, 1.0, -2.0, -torch.inf, 3.0])[mix]
    met = torch.cat([mix.argsort()[:4], mix.argsort()[:4]])  # not the last two
    yield call(row, met, 2.0).tries("impossible", "once").label("a logit is 0, two are -inf; 8 ids")
    yield (
        call(row, torch.empty(0, dtype=torch.int64), 1.5)
        .tries("impossible", "empty")
        .label("a logit is 0, two are -inf; no ids")
    )
    # No id twice: PyTorch's gradient of what is scattered to one entry twice is twice as large
    yield call(mixed(draw, 6), draw.permutation(6)[:4], 1.5).with_gradients()
    # One multiplication: float64's usual tolerance would not show a detour by float32
    double = call(mixed(draw, 6, dtype=torch.float64), draw.permutation(6)[:4], 1.3)
    yield double.with_gradients().tolerance(1e-12)
    yield call(non_contiguous(mixed(draw, 6)), some(draw, 6, 5), 1.5).tries("once").does_not_mutate()
    yield call(mixed(draw, 6), some(draw, 6, 5), 1.5).device_only()


@penalize_repeats.criterion("ValueError unless penalty > 0", points=0.25, tries="positive")
def _(draw):
    for wrong in (0.0, -1.0, 0, -draw.number(0.1, 3.0)):
        yield call(mixed(draw, 4), torch.tensor([1, 3]), wrong).raises("penalty")
    yield call(mixed(draw, 4), torch.tensor([1]), 1.0).does_not_raise()
    yield call(mixed(draw, 4), ids=torch.tensor([1]), penalty=0.4).does_not_raise()


@penalize_repeats.sizes(points=0.25, N=(1, 6, 300), T=(0, 4, 300), penalty=(0.01, 1.5, 100.0))
def _(draw, N, T, penalty):
    return call(draw.normal(N), draw.integers(0, N, T), penalty)
