"""`attend_by_roles`: attention with queries, keys and values."""

import torch

from grading.exercises.exercise import call, exercise, non_contiguous

from ...shared.repeating import after

attend_by_roles = exercise(
    "attend_by_roles",
    result_names=("output", "weights"),
    see="Exercise: `attend_by_roles(x, W_q, W_k, W_v)`",
    hints=(
        "`attend_all` used `x` three times. Which time did it ask, which time was it found, and which time was "
        "it summed?",
        "First make queries, keys and values: `x` times each matrix. Scores are dot products of queries with "
        "keys, (T, T), "
        "and the output is the weights times the values, (T, Dv).",
        "`q, k, v = <x times each of the three matrices>`, then your two lines of `attend_all`, with `q`, `k` and `v` "
        "instead of the three `x`.",
    ),
)


@attend_by_roles.oracle
def attend_by_roles_oracle(x, W_q, W_k, W_v):
    q, k, v = (torch.einsum("td,de->te", x, matrix) for matrix in (W_q, W_k, W_v))
    weights = torch.softmax(torch.einsum("te,se->ts", q, k), -1)
    return torch.einsum("ts,sv->tv", weights, v), weights


attend_by_roles.example(
    "the worked example",
    call(
        torch.tensor([[1.0], [2.0]]), torch.tensor([[0.0]]), torch.tensor([[1.0]]), torch.tensor([[10.0, 1.0]])
    ).does_not_mutate(),
)
attend_by_roles.example(
    "three words, and the gradients",
    call(
        torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]),
        torch.tensor([[1.0], [-1.0]]),
        torch.tensor([[0.0], [1.0]]),
        torch.tensor([[1.0, 0.0, 2.0], [0.0, 3.0, 1.0]]),
    ).with_gradients(),
)
attend_by_roles.example(
    "float32 in, float32 out; float64 in, float64 out",
    *(
        call(*(torch.tensor(rows, dtype=dtype) for rows in ([[0.5], [0.3]], [[1.0]], [[0.7]], [[0.1]])))
        for dtype in (torch.float32, torch.float64)
    ),
    check_types=True,
)


def drawn(draw, T, D, K, V, **options):
    """A sentence and three matrices, whose scores are of moderate size."""
    return draw.normal(T, D, **options), *(draw.normal(D, n, scale=D**-0.5, **options) for n in (K, K, V))


@attend_by_roles.criterion("output and weights", points=2.5)
def _(draw):
    yield call(*drawn(draw, 6, 3, 2, 4))
    yield call(*drawn(draw, 5, 4, 3, 2))
    yield call(*drawn(draw, 2, 3, 5, 1))
    yield call(*drawn(draw, 4, 4, 4, 4)).label("all sizes are 4")
    yield call(*drawn(draw, 7, 2, 1, 2))
    yield after(*(drawn(draw, 4, 3, 2, 3) for _ in "ab"))


@attend_by_roles.criterion("gradients", points=0.5)
def _(draw):
    yield call(*drawn(draw, 5, 3, 2, 4)).with_gradients()
    yield call(*drawn(draw, 3, 4, 3, 2)).with_gradients()


@attend_by_roles.criterion("float64 stays float64, float32 float32, on any device", points=0.25, check_types=True)
def _(draw):
    yield call(*drawn(draw, 4, 3, 2, 3))
    yield call(*drawn(draw, 4, 3, 2, 3)).device_only()
    yield call(*drawn(draw, 5, 3, 2, 4, dtype=torch.float64))
    yield call(*drawn(draw, 6, 4, 3, 2, dtype=torch.float64)).tolerance(1e-8, 1e-8)


@attend_by_roles.criterion("arguments, contiguous or not, stay as they were", points=0.25)
def _(draw):
    yield call(*drawn(draw, 5, 3, 2, 4)).does_not_mutate()
    yield call(*map(non_contiguous, drawn(draw, 5, 3, 2, 4))).does_not_mutate()


@attend_by_roles.sizes(points=0.5, T=(1, 6, 40), D=(1, 3, 40), K=(1, 2, 9), V=(1, 4, 40))
def _(draw, T, D, K, V):
    return call(*drawn(draw, T, D, K, V))
