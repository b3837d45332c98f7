"""`gap_score`, a step: the score of a query at one position with a key at another."""

import torch

from grading.exercises.exercise import call, step

from ..common import turned

gap_score = step(
    "gap_score",
    see="Exercise: one score (extra)",
    hints=(
        "`apply_rope` wants a dimension of tokens and a tensor of positions. How do you make one vector and one number "
        "into these?",
        "The shape of the code: `apply_rope(q[None], torch.tensor([m]))[0]`, the same for the key, then a dot product.",
    ),
)


@gap_score.oracle
def gap_score_oracle(q, k, m, n):
    pairs = [torch.complex(*x.unflatten(-1, (-1, 2)).double().unbind(-1)) for x in (q, k)]
    theta = 10000.0 ** (-torch.arange(0, len(q), 2, dtype=torch.float64) / len(q))
    return (pairs[0] * pairs[1].conj() * torch.polar(torch.ones_like(theta), (m - n) * theta)).sum().real.to(q.dtype)


gap_score.example("two numbers, a gap of 1", turned(call(torch.tensor([1.0, 0.0]), torch.tensor([1.0, 0.0]), 3, 4), 4))
gap_score.example(
    "four numbers", turned(call(torch.tensor([1.0, 2.0, 0.0, -1.0]), torch.tensor([0.5, 1.0, 2.0, 1.0]), 2, 7), 20)
)


@gap_score.criterion("at any two positions")
def _(draw):
    for m, n in ((0, 3), (7, 2), (20, 20), (31, 45)):
        yield turned(call(draw.normal(8), draw.normal(8), m, n), 400)
    yield turned(call(draw.normal(6), draw.normal(6), 12, 5).does_not_mutate(), 100)
