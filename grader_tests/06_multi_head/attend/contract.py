"""`attend`, a step: scaled attention of one head, or of all heads in the leading dimensions."""

import math

import torch

from grading.exercises.exercise import call, step

from ...shared import BUILT_IN

attend = step(
    "attend",
    result_names=("output", "weights"),
    see="Exercise: one head",
    forbidden=BUILT_IN,
    hints=(
        "Three lines: scores, weights, output. Which shape has each of them?",
        "The scores are `query @ key.mT`, divided by the square root of the last size of `query`. The softmax runs "
        "over the keys, the last dimension of the scores.",
    ),
)


@attend.oracle
def attend_oracle(query, key, value):
    scores = torch.einsum("...tk,...sk->...ts", query, key) / math.sqrt(query.shape[-1])
    weights = torch.softmax(scores, dim=-1)
    return torch.einsum("...ts,...sv->...tv", weights, value), weights


attend.example(
    "the worked example",
    call(
        torch.tensor([[1.0, 0.0, 0.0, 0.0]]),
        torch.tensor([[2 * math.log(3), 0.0, 0.0, 0.0], [0.0, 5.0, 0.0, 0.0]]),
        torch.tensor([[4.0], [8.0]]),
    ),
)
attend.example("two heads at once", call(*(torch.arange(12.0).view(2, 3, 2).sin() * n for n in (1, 2, 3))))


@attend.criterion("scaled attention along the last two dimensions")
def _(draw):
    yield call(draw.normal(5, 3), draw.normal(4, 3), draw.normal(4, 6))
    yield call(draw.normal(2, 5, 3), draw.normal(2, 4, 3), draw.normal(2, 4, 3))
    yield call(draw.normal(2, 3, 5, 8), draw.normal(2, 3, 4, 8), draw.normal(2, 3, 4, 8)).does_not_mutate()
