"""`additive_mask`, a step: a floating-point mask that is added to the scores."""

import torch

from grading.exercises.exercise import call, step

additive_mask = step(
    "additive_mask",
    see="Exercise: a mask to add (extra)",
    hints=(
        "Which tensor has 0 everywhere? And which method puts another value where a mask is True?",
        "Start with `torch.zeros` of the mask's shape, and use `masked_fill`. Do not multiply: 0 times ∞ is NaN.",
    ),
)


@additive_mask.oracle
def additive_mask_oracle(mask):
    return torch.where(mask, -torch.inf, torch.zeros(mask.shape))


additive_mask.example("two keys", call(torch.tensor([False, True])), check_types=True)
additive_mask.example("three positions, causal", call(torch.ones(3, 3, dtype=torch.bool).triu(1)))


@additive_mask.criterion("0 where open, -inf where blocked")
def _(draw):
    yield call(draw.chance(0.5, 4, 6))
    yield call(draw.chance(0.3, 2, 1, 1, 5))
    yield call(torch.zeros(3, 2, dtype=torch.bool)).does_not_mutate()
