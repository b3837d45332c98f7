"""`drop`, a step: the formula of dropout, for given survivors."""

import torch

from grading.exercises.exercise import call, step

drop = step(
    "drop",
    see="Exercise: drop weights (extra)",
    hints=(
        "What becomes of a weight that is dropped, and what of one that is kept?",
        "Multiply by `kept`, which counts as 1 and 0, and divide by the probability of being kept.",
    ),
)


@drop.oracle
def drop_oracle(weights, kept, p):
    return torch.where(kept, weights / (1 - p), torch.zeros_like(weights))


drop.example("the worked example", call(torch.tensor([0.5, 0.25, 0.25]), torch.tensor([True, False, True]), 0.5))
drop.example(
    "two rows, p = 0.2",
    call(torch.tensor([[0.2, 0.8], [0.6, 0.4]]), torch.tensor([[True, True], [False, True]]), 0.2).with_gradients(),
)
drop.example("without dropout", call(torch.tensor([0.3, 0.7]), torch.tensor([True, True]), p=0.0))


@drop.criterion("dropped and kept weights")
def _(draw):
    for p in (0.1, 0.5, 0.8):
        yield call(draw.distribution(3, 6), draw.uniform(3, 6) > p, p)
    yield call(draw.distribution(5, dtype=torch.float64), draw.uniform(5) > 0.4, 0.4)
    yield call(draw.distribution(4), draw.uniform(4) > 2.0, 0.3).label("all are dropped")
    yield call(draw.distribution(4), draw.uniform(4) > 0.3, 0.3).does_not_mutate()
