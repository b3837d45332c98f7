"""`shared_scores`, a step: scores of grouped heads, without copies of the keys."""

import torch

from grading.exercises.exercise import call, step

shared_scores = step(
    "shared_scores",
    see="Exercise: share without copying (extra)",
    hints=(
        "Queries `(B, H, T, K)`, keys `(B, G, S, K)`: which heads read group 0? Are they next to each other in "
        "`query`?",
        "`query.reshape(B, G, -1, K)` puts the rows of a group's heads below each other. What does a product with the "
        "transposed keys have as its shape?",
        "The shape of the code: `(query.reshape(<…>) @ keys.mT).reshape(<the shape of the result>)`.",
    ),
)


@shared_scores.oracle
def shared_scores_oracle(query, keys):
    each = query.shape[1] // keys.shape[1]
    return query @ keys.repeat_interleave(each, dim=1).transpose(-2, -1)


shared_scores.example("the worked example", call(torch.tensor([[[[2.0]], [[3.0]]]]), torch.tensor([[[[1.0], [10.0]]]])))
shared_scores.example(
    "four heads, two groups, one query",
    call(torch.tensor([1.0, 2.0, 3.0, 4.0]).view(1, 4, 1, 1), torch.tensor([1.0, 2.0, 10.0, 20.0]).view(1, 2, 2, 1)),
)


@shared_scores.criterion("head h with its group")
def _(draw):
    yield call(draw.normal(2, 6, 3, 5), draw.normal(2, 3, 7, 5))
    yield call(draw.normal(3, 6, 1, 4), draw.normal(3, 2, 8, 4))
    yield call(draw.normal(2, 4, 3, 5), draw.normal(2, 1, 7, 5))
    yield call(draw.normal(2, 4, 3, 5), draw.normal(2, 4, 7, 5))
    yield call(draw.normal(2, 6, 3, 5), draw.normal(2, 3, 7, 5)).with_gradients()
