"""`squared_distances`, an exercise without points: squared distances by dot products alone."""

import torch

from grading.exercises.exercise import Script, call, helper, method, step, student

squared_distances = step(
    "squared_distances",
    forbidden=("cdist", "pdist", "dist", "pairwise_?distance"),
    see="Exercise: `squared_distances(queries, keys)` (extra)",
    hints=(
        "Multiply out $(q - k) \\cdot (q - k)$. Which of its parts has one number per pair, which one per query, and "
        "which one per key?",
        "The parts have the shapes `(..., T, 1)`, `(..., T, S)` and `(..., 1, S)`, and broadcast. Then two repairs: "
        "cut off what rounding makes negative, and keep the vectors short. Distances stay the same if you move "
        "everything by the same vector.",
        "First subtract one vector per batch, such as the mean of its keys, from all its queries and keys. Then "
        "`<squares of queries, as a column> - 2 * <scores> + <squares of keys, as a row>`, and `clamp` from below.",
    ),
)


@squared_distances.oracle
def squared_distances_oracle(queries, keys):
    origin = keys.mean(-2, keepdim=True)
    queries, keys = queries - origin, keys - origin
    own = queries.square().sum(-1)[..., :, None] + keys.square().sum(-1)[..., None, :]
    return (own - 2 * queries @ keys.mT).clamp(min=0)


squared_distances.example("3, 4, 5", call(torch.tensor([[1.0, 2.0]]), torch.tensor([[4.0, 6.0], [1.0, 2.0]])))
squared_distances.example(
    "far out, 1 and 2 apart",
    call(torch.tensor([[5000.0, 5000.0]]), torch.tensor([[5001.0, 5000.0], [5000.0, 5002.0], [4999.0, 4999.0]])),
)
squared_distances.example(
    "float64 stays float64",
    call(torch.tensor([[0.5, 2.0]], dtype=torch.float64), torch.tensor([[0.1, 0.2]], dtype=torch.float64)),
    check_types=True,
)


@squared_distances.criterion("every query, every key", points=0.5)
def _(draw):
    yield call(draw.normal(3, 4), draw.normal(5, 4))
    yield call(draw.normal(1, 6), draw.normal(4, 6))
    yield call(draw.normal(4, 3, scale=20.0), draw.normal(2, 3))
    yield call(draw.normal(4, 4), draw.normal(4, 4)).label("as many queries as keys as numbers in each")


@squared_distances.criterion("batches, gradients", points=0.25)
def _(draw):
    yield call(draw.normal(2, 3, 4), draw.normal(2, 5, 4)).with_gradients()
    yield call(draw.normal(2, 3, 4, 6), draw.normal(2, 3, 5, 6))
    yield call(draw.normal(1, 3, 1), draw.normal(1, 4, 1))
    yield call(draw.normal(2, 1, 3), draw.normal(2, 1, 3))


@squared_distances.criterion("nothing larger than the result is made", points=0.5)
def _(draw):
    for leading in ((), (2,)):
        s = Script(queries=draw.normal(*leading, 14, 8), keys=draw.normal(*leading, 12, 8))
        s.call(helper("measured"), student("squared_distances"), s.queries, s.keys)
        case = s.case().check_with("computed_in_tiles", scores=[*leading, 14, 12], products=10**9).timeout(20)
        yield case.label("14 queries and 12 keys of 8 numbers: what is made on the way")


@squared_distances.criterion("never below 0", points=0.25)
def _(draw):
    for width in (9, 30):  # without a clamp, rounding makes some of 40 negative on every machine
        s = Script(words=draw.normal(40, width))
        squared = s.call(student("squared_distances"), s.words, s.words)
        s.call(method(squared, "sqrt"))
        # The root of a rounding error is a thousandth: the case looks for NaN
        yield s.case().tolerance(1e-3, 1e-2).label("the root of the distances from 40 words to themselves")


@squared_distances.criterion("far from zero", points=0.25)
def _(draw):
    away = 3000 * torch.ones(5) + 1000 * draw.uniform(5)
    yield call(draw.normal(3, 5) + away, draw.normal(4, 5) + away)
    apart = torch.tensor([-3000.0, 3000.0])[:, None, None]
    yield call(draw.normal(2, 4, 3) + apart, draw.normal(2, 5, 3) + apart).label("two batches, each in its place")


@squared_distances.criterion("float32 stays float32, float64 float64", points=0.25, check_types=True)
def _(draw):
    yield call(draw.normal(3, 4), draw.normal(2, 4)).does_not_mutate()
    yield call(draw.normal(3, 4), draw.normal(2, 4)).device_only()
    yield call(draw.normal(3, 4, dtype=torch.float64), draw.normal(2, 4, dtype=torch.float64))
