"""`weights_from`, a step: weights of a row of scores by its log-sum-exp."""

import math

import torch

from grading.exercises.exercise import call, step

from ..common import NOT_ALLOWED, logarithm_of_sum

weights_from = step(
    "weights_from",
    forbidden=NOT_ALLOWED,
    see="Exercise: weights from the log-sum-exp",
    hints=(
        "`lse` has one dimension less than the scores. How does each row get its own number?",
        "The shape of the code: `torch.exp(scores - <lse with a last dimension of 1>)`. Before that, put a harmless "
        "number, such as 0, where `lse` is −∞: `masked_fill`.",
    ),
)


@weights_from.oracle
def weights_from_oracle(scores, lse):
    level = torch.where(lse == -math.inf, torch.zeros_like(lse), lse)
    return (scores - level.unsqueeze(-1)).exp()


weights_from.example(
    "two keys, and the same two of more keys",
    call(torch.tensor([0.0, math.log(3)]), torch.tensor(math.log(4))),
    call(torch.tensor([0.0, math.log(3)]), torch.tensor(math.log(8))),
)
weights_from.example(
    "a blocked key, and a row of nothing",
    call(torch.tensor([[0.0, -math.inf], [-math.inf, -math.inf]]), torch.tensor([0.0, -math.inf])),
)


@weights_from.criterion("by the log-sum-exp of each row, which may be that of more keys")
def _(draw):
    scores = draw.normal(3, 5)
    yield call(scores, logarithm_of_sum(scores))
    yield call(scores, logarithm_of_sum(torch.cat([scores, draw.normal(3, 4)], dim=-1)))
    yield call(draw.normal(7), draw.number(2.0, 3.0) + torch.zeros(()))
    yield call(draw.normal(2, 3, 4), 2.0 + draw.normal(2, 3))
    yield call(1000.0 + draw.normal(4, 3), 1002.0 + draw.normal(4)).tolerance(1e-3, 1e-3)
    yield call(draw.normal(3, 4, dtype=torch.float64), 2.0 + draw.normal(3, dtype=torch.float64))
    yield call(draw.normal(3, 4), 2.0 + draw.normal(3)).does_not_mutate()


@weights_from.criterion("blocked scores, and rows of nothing")
def _(draw):
    scores = draw.normal(4, 3)
    scores[0, 1], scores[2] = -math.inf, -math.inf
    yield call(scores, logarithm_of_sum(scores))
    yield call(torch.full((2, 3), -math.inf), torch.full((2,), -math.inf))
