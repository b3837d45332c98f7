"""`attend_all`: every word attends to all words."""

import torch

from grading.exercises.exercise import call, exercise, non_contiguous

from ...shared.repeating import after

attend_all = exercise(
    "attend_all",
    result_names=("output", "weights"),
    see="Exercise: `attend_all(x)`",
    hints=(
        "`attend_once` asked with one vector. Which rows ask now, and how many rows do the scores have?",
        "The dot products of all rows with all rows are one product of `x` and `x` on its side, (T, T). Softmax "
        "runs along "
        "each row of it. The output is a product of the weights and `x`.",
        "`weights = torch.softmax(<x times x on its side>, dim=-1)`, then return `<weights times x>, weights`.",
    ),
)


@attend_all.oracle
def attend_all_oracle(x):
    scores = (x[:, None] * x).sum(-1)
    powers = (scores - scores.max(-1, keepdim=True).values).exp()
    weights = powers / powers.sum(-1, keepdim=True)
    return (weights[..., None] * x).sum(1), weights


attend_all.example("the worked example", call(torch.tensor([[1.0, 0.0], [0.0, 1.0]])).does_not_mutate())
attend_all.example(
    "three words, and the gradients", call(torch.tensor([[1.0, 0.0], [0.0, 2.0], [-1.0, 1.0]])).with_gradients()
)
attend_all.example(
    "float32 in, float32 out; float64 in, float64 out",
    *(call(torch.tensor([[0.5, 1.0], [0.1, 0.3]], dtype=dtype)) for dtype in (torch.float32, torch.float64)),
    check_types=True,
)


@attend_all.criterion("output and weights", points=2.5)
def _(draw):
    yield call(draw.normal(6, 3))
    yield call(draw.normal(2, 5))
    yield call(draw.normal(4, 4)).label("four words with four entries each")
    yield call(draw.normal(5, 1))
    yield call(draw.normal(7, 2))
    yield after(*([draw.normal(5, 3)] for _ in "ab"))


@attend_all.criterion("gradients", points=0.5)
def _(draw):
    yield call(draw.normal(5, 3)).with_gradients()
    yield call(draw.normal(3, 4)).with_gradients()


@attend_all.criterion("float64 stays float64, float32 float32, on any device", points=0.25, check_types=True)
def _(draw):
    yield call(draw.normal(4, 3))
    yield call(draw.normal(4, 3)).device_only()
    yield call(draw.normal(5, 3, dtype=torch.float64))
    yield call(draw.normal(6, 4, dtype=torch.float64)).tolerance(1e-8, 1e-8)


@attend_all.criterion("x, contiguous or not, stays as it was", points=0.25)
def _(draw):
    yield call(draw.normal(5, 3)).does_not_mutate()
    yield call(non_contiguous(draw.normal(5, 3))).does_not_mutate()


@attend_all.sizes(points=0.5, T=(1, 6, 40), D=(1, 3, 40))
def _(draw, T, D):
    return call(draw.normal(T, D, scale=0.15))
