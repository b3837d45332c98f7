"""`score_std`: the standard deviation of all unscaled scores, one number."""

import torch

from grading.exercises.exercise import call, exercise, non_contiguous

from ...shared import BUILT_IN
from ...shared.repeating import after

score_std = exercise(
    "score_std",
    see="1. How widely do scores spread?",
    forbidden=BUILT_IN,
    hints=(
        "How many scores are there for T queries and S keys, and for a batch of such problems? All of them "
        "count, so the result is one number, of shape `()`.",
        "First compute all scores with a matrix product: swap the last two dimensions of the keys, and keep the "
        "leading ones. Then take the standard deviation of all entries together. By which number does your function "
        "for it divide?",
        "The shape of the code: `scores = ...`, `(..., T, S)`; `return ...`, the standard deviation of all entries, "
        "with the option to divide by n instead of n - 1.",
    ),
)


@score_std.oracle
def score_std_oracle(query, key):
    scores = torch.einsum("...tk,...sk->...ts", query, key)
    return (scores - scores.mean()).square().mean().sqrt()


score_std.example("on paper", call(torch.tensor([[1.0, 2.0], [1.0, -2.0]]), torch.tensor([[1.0, 1.0], [1.0, -1.0]])))


@score_std.example("three numbers wide, two queries, three keys")
def _():
    query = torch.tensor([[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]])
    key = torch.tensor([[1.0, 1.0, 0.0], [2.0, 0.0, 1.0], [0.0, 3.0, 1.0]])
    yield call(query, key)


score_std.example(
    "float32 in, float32 out; float64 in, float64 out",
    call(torch.tensor([[1.0, 2.0]]), torch.tensor([[0.5, 1.0], [1.0, -1.0]])),
    call(torch.tensor([[0.1, 2.0]]).double(), torch.tensor([[0.3, 1.0], [1.0, -1.0]]).double()),
    check_types=True,
)


@score_std.example("a batch of two, one number for all of it")
def _():
    query = torch.tensor([[[1.0, 1.0]], [[2.0, 0.0]]])
    key = torch.tensor([[[1.0, 2.0], [0.0, 1.0]], [[3.0, 0.0], [1.0, 5.0]]])
    yield call(query, key).with_gradients()


# Queries and keys are shifted, so that the mean of the scores is not 0 and has to be subtracted.
@score_std.criterion("one set of queries and keys", points=1)
def _(draw):
    yield call(draw.normal(3, 4) + 0.7, draw.normal(5, 4) + 0.5)
    yield call(draw.normal(1, 6), draw.normal(4, 6) - 0.5)
    yield call(draw.normal(5, 1), draw.normal(2, 1))
    yield call(draw.normal(6, 300, scale=3.0), draw.normal(7, 300))
    # Whole numbers, so that every score is exact: only operations on scores that large can round
    query, key = (draw.integers(-9, 10, n, 4).float() for n in (5, 6))
    query[:, 0], key[:, 0] = 1000.0, 100.0
    yield call(query, key).label("scores with a mean of 100,000")
    yield after(*((draw.normal(3, 5) + 0.4, draw.normal(2, 5) + 0.3) for _ in "ab"))


@score_std.criterion("over a whole batch", points=1)
def _(draw):
    yield call(draw.normal(2, 3, 4) + 0.7, draw.normal(2, 5, 4) + 0.5)
    shift = torch.tensor([-2.0, 0.0, 3.0])[:, None, None]  # batch elements of very different means
    yield call(draw.normal(3, 1, 2) + shift, draw.normal(3, 4, 2) + 1.0)
    yield call(draw.normal(3, 2, 5, 6), draw.normal(3, 2, 4, 6))
    yield call(draw.normal(1, 2, 3, 2, 5) + 0.5, draw.normal(1, 2, 3, 4, 5))


@score_std.criterion("where there is no spread", points=0.5)
def _(draw):
    yield call(draw.normal(1, 5), draw.normal(1, 5)).check_with("negligible")
    yield call(torch.zeros(3, 4), draw.normal(5, 4)).check_with("negligible")
    yield call(draw.normal(3, 4), draw.normal(5, 4)).check_with("nonzero")


@score_std.criterion("gradients", points=0.5)
def _(draw):
    yield call(draw.normal(3, 4) + 0.7, draw.normal(5, 4)).with_gradients()
    yield call(draw.normal(2, 6), draw.normal(5, 6) - 0.5).with_gradients()
    query = draw.normal(3, 4) + 0.7
    query[1] = 0.0  # its scores are all 0, without any spread
    yield call(query, draw.normal(5, 4)).with_gradients().label("one query of three is all zeros")


@score_std.criterion("float64 stays float64, float32 float32, on any device", points=0.5, check_types=True)
def _(draw):
    yield call(draw.normal(3, 4) + 0.6, draw.normal(5, 4))
    yield call(draw.normal(3, 4) + 0.6, draw.normal(5, 4)).device_only()
    # Around 3600 float32 rounds scores by more than float64's tolerance for their spread
    query, key = (draw.normal(n, 4, dtype=torch.float64) for n in (4, 5))
    query[:, 0], key[:, 0] = 60.0, 60.0
    yield call(query, key)
    yield call(*(draw.normal(n, 4, dtype=torch.float64) + 0.6 for n in (3, 5)))


@score_std.criterion("arguments, contiguous or not, stay as they were", points=0.5)
def _(draw):
    yield call(draw.normal(3, 4), draw.normal(5, 4)).does_not_mutate()
    yield call(non_contiguous(draw.normal(4, 3)) + 0.5, non_contiguous(draw.normal(2, 3) - 1.0)).does_not_mutate()
    # Leading dimensions in another order in memory, which `view` cannot merge
    yield call(*(draw.normal(3, n, 2, 6).transpose(1, 2) + 0.5 for n in (5, 4))).does_not_mutate()
