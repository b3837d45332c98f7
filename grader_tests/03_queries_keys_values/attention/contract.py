"""`attention`: values averaged by the softmax of queries times keys, unscaled."""

import math

import torch

from grading.exercises.exercise import call, exercise, non_contiguous

from ...shared.repeating import after

attention = exercise(
    "attention",
    result_names=("output", "weights"),
    see="4. All queries at once",
    hints=(
        "The loop above did this for one query. Which of its lines gave one score, and which one the context? Which "
        "product of matrices gives all scores at once? Write down its shape.",
        "The first product is of queries and keys, the second of weights and values. The scores have one row per query "
        "and one column per key: (T, S). `key.mT` swaps the last two dimensions, also in a batch.",
        "`scores = query @ (key with its last two dimensions swapped)`, softmax along the last dimension, the "
        "weights times the values. Return the output first, then the weights.",
    ),
)


@attention.oracle
def attention_oracle(query, key, value):
    weights = torch.softmax(torch.einsum("...tk,...sk->...ts", query, key), -1)
    return torch.einsum("...ts,...sv->...tv", weights, value), weights


@attention.example("the worked example")
def _():
    keys = torch.tensor([[math.log(3), 0.0], [0.0, 5.0]])
    yield call(torch.tensor([[1.0, 0.0]]), keys, torch.tensor([[4.0], [8.0]])).does_not_mutate()


attention.example(
    "two queries, three keys, and the gradients",
    call(
        torch.tensor([[1.0], [-2.0]]),
        torch.tensor([[0.0], [1.0], [2.0]]),
        torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]),
    ).with_gradients(),
)
attention.example(
    "float32 in, float32 out; float64 in, float64 out",
    *(
        call(
            torch.tensor([[0.5, 1.0]], dtype=dtype),
            torch.tensor([[1.0, 0.0], [0.1, 1.0]], dtype=dtype),
            torch.tensor([[4.0], [0.3]], dtype=dtype),
        )
        for dtype in (torch.float32, torch.float64)
    ),
    check_types=True,
)
attention.example(
    "a batch of two",
    call(
        torch.tensor([[[1.0, 0.0]], [[0.0, 2.0]]]),
        torch.tensor([[[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.5], [1.0, 1.0]]]),
        torch.tensor([[[1.0], [2.0]], [[3.0], [-3.0]]]),
    ),
)


@attention.criterion("output and weights", points=2.5)
def _(draw):
    yield call(draw.normal(5, 4), draw.normal(7, 4), draw.normal(7, 3))
    yield call(draw.normal(6, 3), draw.normal(2, 3), draw.normal(2, 5))
    yield call(draw.normal(4, 4), draw.normal(4, 4), draw.normal(4, 4))
    # More queries and keys than fit into a block of 32 or a short list of the best
    yield call(draw.normal(39, 4), draw.normal(70, 4), draw.normal(70, 2))
    yield after(*([draw.normal(2, 3), draw.normal(4, 3), draw.normal(4, 5)] for _ in "ab"))


@attention.criterion("any leading dimensions", points=1.5, tries="leading")
def _(draw):
    yield call(draw.normal(2, 5, 4), draw.normal(2, 7, 4), draw.normal(2, 7, 3))
    yield call(draw.normal(7, 2, 3), draw.normal(7, 4, 3), draw.normal(7, 4, 5))
    yield call(draw.normal(2, 3, 5, 4), draw.normal(2, 3, 6, 4), draw.normal(2, 3, 6, 7))
    yield call(draw.normal(3, 3, 3), draw.normal(3, 3, 3), draw.normal(3, 3, 3))
    yield call(draw.normal(1, 3, 1), draw.normal(1, 5, 1), draw.normal(1, 5, 1)).tries("leading", "single")
    yield call(draw.normal(2, 1, 1), draw.normal(2, 1, 1), draw.normal(2, 1, 1)).tries("leading", "single")


@attention.criterion("one query, one key, or vectors of one number", points=0.5, tries="single")
def _(draw):
    yield call(draw.normal(1, 4), draw.normal(6, 4), draw.normal(6, 3))
    yield call(draw.normal(5, 4), draw.normal(1, 4), draw.normal(1, 3))
    yield call(draw.normal(3, 1), draw.normal(5, 1), draw.normal(5, 1))
    yield call(draw.normal(1, 1), draw.normal(1, 1), draw.normal(1, 1))


@attention.criterion("large scores", points=1, tries="large")
def _(draw):
    yield call(draw.normal(5, 4, scale=20.0), draw.normal(7, 4, scale=20.0), draw.normal(7, 3))
    # Queries of very different lengths: the rows' maxima are hundreds apart
    lengths = torch.tensor([0.1, 40.0, 1.0, 15.0, 400.0])[:, None]
    for _ in "ab":
        yield call(draw.normal(5, 4) * lengths, draw.normal(6, 4, scale=5.0), draw.normal(6, 3))
    yield call(-draw.uniform(3, 4, low=20.0, high=30.0), draw.uniform(5, 4, low=2.0, high=3.0), draw.normal(5, 2))
    # All scores are far below any number that a running maximum might begin with, and their differences far above
    # rounding
    lengths = 1.0 + draw.permutation(5)[:, None]
    keys = lengths * draw.uniform(5, 4, low=1.0, high=1.1)
    yield call(-1e12 * draw.uniform(3, 4, low=0.5, high=1.5), keys, draw.normal(5, 2))
    # One key is so long that the others vanish in a sum or mean with it; no query attends to it
    keys = draw.normal(6, 4)
    keys[2] = -1e12 * draw.uniform(4, low=0.5, high=1.5)
    yield call(draw.uniform(3, 4, low=0.5, high=1.5), keys, draw.normal(6, 2))


@attention.criterion("gradients", points=0.75)
def _(draw):
    yield call(draw.normal(5, 4), draw.normal(7, 4), draw.normal(7, 3)).with_gradients()
    # The scores of one key are so far below the rest that their exponentials are 0
    keys = torch.cat([draw.normal(3, 4), -draw.uniform(1, 4, low=70.0, high=80.0), draw.normal(2, 4)])
    yield call(draw.uniform(4, 4, low=0.5, high=1.5), keys, draw.normal(6, 3)).with_gradients()


@attention.criterion("gradients of batches", points=0.5, tries="leading")
def _(draw):
    yield call(draw.normal(2, 3, 5), draw.normal(2, 6, 5), draw.normal(2, 6, 4)).with_gradients()


@attention.criterion("float64 stays float64, float32 float32, on any device", points=0.5, check_types=True)
def _(draw):
    yield call(draw.normal(2, 3), draw.normal(4, 3), draw.normal(4, 2))
    yield call(draw.normal(2, 3), draw.normal(4, 3), draw.normal(4, 2)).device_only()
    wide = torch.float64
    yield call(draw.normal(5, 4, dtype=wide), draw.normal(3, 4, dtype=wide), draw.normal(3, 6, dtype=wide))
    # Digits that float32 would round away, but that a guard such as `+ 1e-8` to the sum of a row leaves
    yield call(*(draw.normal(*shape, dtype=wide) for shape in ((3, 4), (6, 4), (6, 2)))).tolerance(1e-8, 1e-8)


@attention.criterion("arguments, contiguous or not, stay as they were", points=0.5)
def _(draw):
    yield call(draw.normal(5, 4), draw.normal(3, 4), draw.normal(3, 6)).does_not_mutate()
    yield call(draw.normal(4, 3), draw.normal(4, 3), draw.normal(4, 3)).does_not_mutate()
    yield call(*(non_contiguous(draw.normal(*shape)) for shape in ((5, 4), (6, 4), (6, 3)))).does_not_mutate()
    # Leading dimensions in another order in memory, which `view` cannot merge
    turned = [draw.normal(3, 2, *shape).transpose(0, 1) for shape in ((5, 4), (7, 4), (7, 6))]
    yield call(*turned).tries("leading").does_not_mutate()


@attention.sizes(points=0.25, T=(1, 5, 60), S=(1, 7, 60), Dk=(1, 4, 60), Dv=(1, 3, 60))
def _(draw, T, S, Dk, Dv):
    return call(draw.normal(T, Dk), draw.normal(S, Dk), draw.normal(S, Dv))
