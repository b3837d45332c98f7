"""`min_p`: the tokens that are not much less probable than the most probable one."""

import torch

from grading.exercises.exercise import call, exercise, non_contiguous

from ..common import spread_logits

min_p = exercise(
    "min_p",
    see="Exercise 5: `min_p(logits, p)`",
    hints=(
        "The most probable token has 0.5, and `p` is 0.2. How probable must another token be to stay?",
        "The bound is `p` times the largest probability of the same row. What is below it gets 0, and the rest is "
        "divided by its sum.",
        "Four steps: the probabilities, (..., N); one bound per row, (..., 1), for which `keepdim=True` keeps the "
        "dimension; 0 where a probability is below it, with `torch.where` or `masked_fill`; and the division by each "
        "row's sum, (..., 1).",
    ),
)


@min_p.oracle
def min_p_oracle(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p is {p}; it must be from 0 to 1")
    ratios = torch.exp(logits - logits.max(-1, keepdim=True).values)  # to the most probable token
    kept = torch.where(ratios >= p, ratios, torch.zeros_like(ratios))
    return kept / kept.sum(-1, keepdim=True)


FIVE = (0.5, 0.22, 0.15, 0.08, 0.05)  # ratios: 0.44, 0.3, 0.16, 0.1
FLAT = (0.26, 0.22, 0.2, 0.18, 0.14)  # ratios: 0.85, 0.77, 0.69, 0.54
BOUNDS = (0.05, 0.13, 0.2, 0.4, 0.6, 0.95)

min_p.example("two of three", call(torch.tensor([0.3, 0.5, 0.2]).log(), 0.5))
min_p.example("all of them", call(torch.tensor([0.0, 1.0, 2.0]), 0.0))
min_p.example("only the most probable", call(torch.tensor([0.0, 1.0, 2.0]), 1.0))
min_p.example("row by row", call(torch.tensor([[0.3, 0.5, 0.2], [0.1, 0.8, 0.1]]).log(), 0.5))
min_p.example("a negative bound", call(torch.tensor([0.0, 1.0]), -0.1).raises("p"))
min_p.example("float64 stays float64", call(torch.tensor([0.3, 0.7]).log().double(), 0.1), check_types=True)


@min_p.criterion("which tokens are kept, row by row", points=0.25)
def _(draw):
    for p in BOUNDS:
        yield call(spread_logits(draw, FIVE), p)
        yield call(spread_logits(draw, FLAT), p)
    yield call(spread_logits(draw, FIVE), 0.2).exact_zeros().tries("zeros").label("which of five are exactly 0, p=0.2")
    for p in (0.0, 1.0, 0, 1):
        yield call(spread_logits(draw, FIVE), p)
    yield call(torch.cat([spread_logits(draw, FIVE, 2), spread_logits(draw, FLAT, 2)]), 0.6).does_not_mutate()
    yield call(torch.stack([spread_logits(draw, FIVE, 3), spread_logits(draw, FLAT, 3)]), 0.2)
    yield call(logits=spread_logits(draw, FIVE, 1, 1), p=0.4)
    twins = torch.tensor([0.3, 0.3, 0.25, 0.1, 0.05]).log()[draw.permutation(5)]
    for p in (0.5, 1.0):
        yield call(twins, p).label(f"two tokens are the most probable, p={p}")


@min_p.criterion("logits of -inf, gradients, float64, any layout and device", points=0.25, check_types=True)
def _(draw):
    for p in (0.0, 0.2):
        row = torch.cat([spread_logits(draw, FIVE), torch.full((2,), -torch.inf)])[draw.permutation(7)]
        yield call(row, p).label(f"two of seven logits are -inf, p={p}")
    yield call(spread_logits(draw, FIVE, 2) + 1e3, 0.2).label("logits of about 1000")
    yield call(spread_logits(draw, FIVE, 3), 0.2).with_gradients()
    yield call(spread_logits(draw, FLAT, 2, 6).double(), 0.6).with_gradients()  # rows enough for float32 to show
    yield call(non_contiguous(spread_logits(draw, FIVE, 2, 3)), 0.13)
    yield call(spread_logits(draw, FIVE, 3), 0.2).device_only()


@min_p.criterion("ValueError unless 0 <= p <= 1", points=0.25, tries="share")
def _(draw):
    for wrong in (-0.1, 1.5, 2, -draw.number(0.01, 3.0), 1 + draw.number(0.01, 3.0)):
        yield call(draw.normal(4), wrong).raises("p")
    yield call(draw.normal(4), 0.0).does_not_raise()
    yield call(draw.normal(4), 1.0).does_not_raise()
    yield call(draw.normal(4), 0.3).does_not_raise()


@min_p.sizes(points=0.25, N=(1, 5, 300), rows=(1, 2, 300), p=(0.0, 0.2, 1.0))
def _(draw, N, rows, p):
    def is_clear(row):
        ratios = (row - row.max()).double().exp()
        return p in (0, 1) or bool(((ratios / p - 1).abs() > 2e-4).all())

    return call(torch.stack([draw.until(lambda: draw.normal(N), is_clear) for _ in range(rows)]), p)
