"""`previous_token_score`, a step: a head's mean weight on the position before its own."""

import torch

from grading.exercises.exercise import call, step

previous_token_score = step(
    "previous_token_score",
    see="Exercise: look one back (extra)",
    hints=(
        "For query 1 it is key 0, for query 2 it is key 1, and so on. On which diagonal of the map are these weights?",
        "The shape of the code: `weights.diagonal(<which>, dim1=-2, dim2=-1)` is `(..., T - 1)`; then a mean over its "
        "last dimension.",
    ),
)


@previous_token_score.oracle
def previous_token_score_oracle(weights):
    t = torch.arange(1, weights.shape[-1], device=weights.device)
    return weights[..., t, t - 1].mean(-1)


THREE = torch.tensor([[1.0, 0.0, 0.0], [0.7, 0.3, 0.0], [0.1, 0.5, 0.4]])
previous_token_score.example("three tokens", call(THREE))
previous_token_score.example(
    "two heads of two tokens", call(torch.tensor([[[1.0, 0.0], [0.9, 0.1]], [[1.0, 0.0], [0.2, 0.8]]]))
)


@previous_token_score.criterion("the mean of the weights one back")
def _(draw):
    yield call(draw.distribution(6, 6))
    yield call(draw.distribution(2, 4, 5, 5))
    yield call(draw.distribution(3, 2, 4, 7, 7, dtype=torch.float64))
    yield call(draw.distribution(2, 5, 5)).does_not_mutate()
    yield call(draw.distribution(3, 6, 6)).with_gradients()
