"""`attend_once`: scores, weights and context of one query."""

import torch

from grading.exercises.exercise import call, exercise, non_contiguous

from ...shared.repeating import after

attend_once = exercise(
    "attend_once",
    result_names=("scores", "weights", "context"),
    see="Exercise: `attend_once(query, x)`",
    hints=(
        "Three results, three steps. Which of them has one number per word, and which has one number per entry?",
        "The scores are the dot products of `query` with all rows of `x`, (T,). Softmax keeps that shape. The "
        "context is a "
        "sum over the rows, so it has the shape of one row, (D,).",
        "`scores = <table> @ <vector>`, then `weights = torch.softmax(<what>, dim=0)`, and the context is "
        "`<one number per row> @ <table>`. Return all three, in this order.",
    ),
)


@attend_once.oracle
def attend_once_oracle(query, x):
    scores = (x * query).sum(-1)
    powers = (scores - scores.max()).exp()
    weights = powers / powers.sum()
    return scores, weights, (weights[:, None] * x).sum(0)


attend_once.example(
    "the worked example", call(torch.tensor([1.0, 0.0]), torch.tensor([[2.0, 0.0], [2.0, 5.0]])).does_not_mutate()
)
attend_once.example(
    "three words, and the gradients",
    call(torch.tensor([1.0, -1.0]), torch.tensor([[1.0, 0.0], [0.0, 2.0], [3.0, 1.0]])).with_gradients(),
)
attend_once.example(
    "float32 in, float32 out; float64 in, float64 out",
    *(
        call(torch.tensor([0.5, 1.0], dtype=dtype), torch.tensor([[1.0, 0.1], [0.3, 1.0]], dtype=dtype))
        for dtype in (torch.float32, torch.float64)
    ),
    check_types=True,
)


@attend_once.criterion("scores, weights and context", points=2.5)
def _(draw):
    yield call(draw.normal(3), draw.normal(6, 3))
    yield call(draw.normal(5), draw.normal(2, 5))
    yield call(draw.normal(4), draw.normal(4, 4)).label("four words with four entries each")
    yield call(draw.normal(1), draw.normal(3, 1))
    yield call(draw.normal(3, scale=2.0), draw.normal(7, 3))
    yield call(-draw.uniform(3, low=1.0, high=2.0), draw.uniform(5, 3, low=0.5, high=1.5)).label("all scores below 0")
    yield after(*([draw.normal(3), draw.normal(4, 3)] for _ in "ab"))


@attend_once.criterion("gradients", points=0.5)
def _(draw):
    yield call(draw.normal(3), draw.normal(5, 3)).with_gradients()
    yield call(draw.normal(4), draw.normal(3, 4)).with_gradients()


@attend_once.criterion("float64 stays float64, float32 float32, on any device", points=0.25, check_types=True)
def _(draw):
    yield call(draw.normal(3), draw.normal(4, 3))
    yield call(draw.normal(3), draw.normal(4, 3)).device_only()
    yield call(draw.normal(3, dtype=torch.float64), draw.normal(5, 3, dtype=torch.float64))
    yield call(draw.normal(4, dtype=torch.float64), draw.normal(6, 4, dtype=torch.float64)).tolerance(1e-8, 1e-8)


@attend_once.criterion("arguments, contiguous or not, stay as they were", points=0.25)
def _(draw):
    yield call(draw.normal(3), draw.normal(5, 3)).does_not_mutate()
    yield call(non_contiguous(draw.normal(3)), non_contiguous(draw.normal(5, 3))).does_not_mutate()


@attend_once.sizes(points=0.5, T=(1, 6, 100), D=(1, 3, 100))
def _(draw, T, D):
    return call(draw.normal(D, scale=0.5), draw.normal(T, D, scale=0.5))
