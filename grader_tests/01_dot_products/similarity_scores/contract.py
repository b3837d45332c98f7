"""`similarity_scores`: every query dotted with every key, in any leading dimensions."""

import torch

from grading.exercises.exercise import EXERCISE, Script, call, exercise, non_contiguous

from ...shared.repeating import after
from ..common import a_pair, changed_since

similarity_scores = exercise(
    "similarity_scores",
    see="Exercise: `similarity_scores(queries, keys)`",
    hints=(
        "For one query and one key you know the answer. Does the query choose the row of the result, or the column? "
        "What shape do 3 queries and 6 keys of 4 entries give?",
        "A matrix product dots the rows of the left matrix with the *columns* of the right one. The keys are rows: "
        "swap their last two dimensions and no others.",
        "The shape of the code: `return queries @ <keys with the last two dimensions swapped>`. `transpose` takes the "
        "two dimensions, and counts from the end with negative numbers.",
    ),
)


@similarity_scores.oracle
def similarity_scores_oracle(queries, keys):
    return torch.einsum("...tk,...sk->...ts", queries, keys)


similarity_scores.example(
    "the worked example", call(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0], [0.0, 5.0], [-1.0, 1.0]]))
)
similarity_scores.example(
    "two queries, three keys, and gradients",
    call(
        torch.tensor([[1.0, 0.0, -2.0, 1.0], [0.5, 3.0, 1.0, -1.0]]),
        torch.tensor([[2.0, 1.0, 0.0, 1.0], [-1.0, 2.0, 4.0, 0.0], [1.0, 1.0, -1.0, 3.0]]),
    ).with_gradients(),
)
similarity_scores.example(
    "a batch of two",
    call(
        torch.tensor([[[1.0, 2.0]], [[-1.0, 3.0]]]),
        torch.tensor([[[3.0, 4.0], [0.0, 5.0], [-1.0, 1.0]], [[2.0, 0.0], [1.0, 1.0], [4.0, -2.0]]]),
    ),
)
similarity_scores.example(
    "float32 in, float32 out; float64 in, float64 out",
    call(torch.tensor([[0.5, 2.0]]), torch.tensor([[3.0, 4.0]])),
    call(
        torch.tensor([[0.1, 0.2]], dtype=torch.float64),
        torch.tensor([[3.0, 4.0]], dtype=torch.float64),
    ),
    check_types=True,
)


@similarity_scores.criterion("a matrix of queries, a matrix of keys", points=2)
def _(draw):
    yield call(draw.normal(3, 4), draw.normal(5, 4))
    yield call(draw.normal(6, 3), draw.normal(2, 3))
    yield call(draw.normal(1, 5), draw.normal(4, 5))
    yield call(draw.normal(4, 3), draw.normal(1, 3))
    yield call(draw.normal(3, 1), draw.normal(4, 1))
    yield call(draw.normal(4, 4), draw.normal(4, 4)).label("as many queries as keys as numbers in each")
    q, k = a_pair(draw, 4, 3)
    yield call(1e15 * q, 1e14 * k).label("vectors of 3 numbers around 1e15")
    # Computed from sums and differences of the two, the shorter vector is lost to rounding
    q, k = a_pair(draw, 5, 4)
    yield call(1e5 * q, 1e-2 * k[:3]).label("long queries and short keys")
    yield after((draw.normal(2, 5), draw.normal(3, 5)), (draw.normal(2, 5), draw.normal(3, 5)))
    # Of equal sizes, so that keys which were transposed in place can be filled anew
    yield changed_since((draw.normal(3, 3), draw.normal(3, 3)), (draw.normal(3, 3), draw.normal(3, 3)))


@similarity_scores.criterion("batches", points=1.75, tries="batches")
def _(draw):
    yield call(draw.normal(2, 3, 4), draw.normal(2, 5, 4))
    yield call(draw.normal(2, 3, 4, 6), draw.normal(2, 3, 5, 6))
    yield call(draw.normal(3, 1, 2, 1, 5), draw.normal(3, 1, 2, 4, 5))
    yield call(draw.normal(1, 4, 3), draw.normal(1, 2, 3))
    yield call(draw.normal(3, 3, 3), draw.normal(3, 3, 3)).label("a batch of 3 with 3 queries and 3 keys of 3 numbers")


@similarity_scores.criterion("float64 stays float64, float32 float32, on any device", points=0.5, check_types=True)
def _(draw):
    yield call(draw.normal(2, 4), draw.normal(3, 4))
    yield call(draw.normal(2, 4), draw.normal(3, 4)).device_only()
    yield call(draw.normal(3, 4, dtype=torch.float64), draw.normal(2, 4, dtype=torch.float64))
    # Digits that float32 would round away
    q, k = a_pair(draw, 4, 6, dtype=torch.float64)
    yield call(q, k).tolerance(1e-10, 1e-11)


@similarity_scores.criterion("gradients", points=0.5)
def _(draw):
    yield call(draw.normal(3, 4), draw.normal(5, 4)).with_gradients()
    s = Script(x=draw.normal(4, 3))
    s.call(EXERCISE, s.x, s.x)
    yield s.case().label("a sequence with itself: the keys are the queries").with_gradients()


@similarity_scores.criterion("gradients of batches", points=0.5, tries="batches")
def _(draw):
    yield call(draw.normal(2, 3, 4), draw.normal(2, 5, 4)).with_gradients()


@similarity_scores.criterion("arguments, contiguous or not, stay as they were", points=0.5)
def _(draw):
    yield call(draw.normal(3, 4), draw.normal(5, 4)).does_not_mutate()
    yield call(draw.normal(4, 4), draw.normal(4, 4)).does_not_mutate()
    yield call(non_contiguous(draw.normal(3, 5)), non_contiguous(draw.normal(4, 5))).does_not_mutate()
    # Leading dimensions in another order in memory, which `view` cannot merge
    q, k = (draw.normal(3, 2, count, 5).transpose(0, 1) for count in (4, 6))
    yield call(q, k).does_not_mutate().tries("batches")


@similarity_scores.sizes(points=0.25, batch=(1, 2, 10), T=(1, 3, 40), S=(1, 4, 40), D=(1, 5, 100))
def _(draw, batch, T, S, D):
    return call(draw.normal(batch, T, D), draw.normal(batch, S, D))
