"""`rooted_scores`: dot products of queries and keys, divided by the root of their width."""

import torch

from grading.exercises.exercise import call, exercise, non_contiguous

from ...shared.repeating import after

rooted_scores = exercise(
    "rooted_scores",
    see="Exercise: `rooted_scores(q, k)`",
    hints=(
        "Which number is `Dk` for queries of shape (6, 2), and for those of shape (16, 1024)? Read it from the shape.",
        "All dot products are one product of queries and keys, (T, T), as in section 5. Then divide every score by the "
        "square root of the number of columns of `q`.",
        "One line: `<queries times keys on their side> / <root of q.shape[-1]>`. The root is `math.sqrt(…)` or "
        "`** 0.5`.",
    ),
)


@rooted_scores.oracle
def rooted_scores_oracle(q, k):
    return (q[:, None] * k).sum(-1) * q.shape[-1] ** -0.5


rooted_scores.example(
    "the worked example",
    call(torch.tensor([[1.0, 1.0, 1.0, 1.0]]), torch.tensor([[5.0, 1.0, 0.0, 0.0]])).does_not_mutate(),
)
rooted_scores.example(
    "two words with nine entries, and the gradients",
    call(torch.tensor([[1.0] * 9, [0.0] * 8 + [3.0]]), torch.tensor([[2.0] * 9, [1.0] * 9])).with_gradients(),
)
rooted_scores.example(
    "float32 in, float32 out; float64 in, float64 out",
    *(
        call(torch.tensor([[0.5], [0.1]], dtype=dtype), torch.tensor([[0.3], [0.7]], dtype=dtype))
        for dtype in (torch.float32, torch.float64)
    ),
    check_types=True,
)


@rooted_scores.criterion("scores of any width", points=2.5)
def _(draw):
    for T, K in ((6, 2), (3, 5), (5, 16), (2, 64), (4, 24), (7, 1)):
        yield call(draw.normal(T, K), draw.normal(T, K))
    yield call(draw.normal(4, 4), draw.normal(4, 4)).label("four words, four entries")
    yield call(draw.normal(1, 9), draw.normal(1, 9))
    yield after(*([draw.normal(5, 3), draw.normal(5, 3)] for _ in "ab"))


@rooted_scores.criterion("gradients", points=0.5)
def _(draw):
    yield call(draw.normal(5, 3), draw.normal(5, 3)).with_gradients()
    yield call(draw.normal(3, 7), draw.normal(3, 7)).with_gradients()


@rooted_scores.criterion("float64 stays float64, float32 float32, on any device", points=0.25, check_types=True)
def _(draw):
    yield call(draw.normal(4, 3), draw.normal(4, 3))
    yield call(draw.normal(4, 3), draw.normal(4, 3)).device_only()
    yield call(draw.normal(5, 3, dtype=torch.float64), draw.normal(5, 3, dtype=torch.float64))
    wide = call(draw.normal(6, 8, dtype=torch.float64), draw.normal(6, 8, dtype=torch.float64))
    yield wide.tolerance(1e-8, 1e-8)


@rooted_scores.criterion("arguments, contiguous or not, stay as they were", points=0.25)
def _(draw):
    yield call(draw.normal(5, 3), draw.normal(5, 3)).does_not_mutate()
    yield call(non_contiguous(draw.normal(5, 3)), non_contiguous(draw.normal(5, 3))).does_not_mutate()


@rooted_scores.sizes(points=0.5, T=(1, 6, 40), K=(1, 3, 300))
def _(draw, T, K):
    return call(draw.normal(T, K), draw.normal(T, K))
