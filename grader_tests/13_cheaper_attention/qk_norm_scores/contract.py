"""`qk_norm_scores`: scores of queries and keys whose root mean square is 1 before their gains."""

import torch

from grading.exercises.exercise import call, exercise, non_contiguous

from ...shared import BUILT_IN
from ...shared.repeating import after

qk_norm_scores = exercise(
    "qk_norm_scores",
    forbidden=BUILT_IN,
    see="Exercise: `qk_norm_scores(query, key, gain_q, gain_k)`",
    hints=(
        "How large can a score become if a query is multiplied by 100?",
        "Divide each vector by its own root mean square, over its last dimension, and multiply by the gain of its "
        "kind. Then compute the scores as always.",
        "Write one function of a tensor and a gain for both. The mean over the last dimension is (..., T, 1) with "
        "`keepdim=True`, so that it divides (..., T, K). Where do the 1e-6 and the root belong? The product with `mT` "
        "then gives (..., T, S).",
    ),
)


@qk_norm_scores.oracle
def qk_norm_scores_oracle(query, key, gain_q, gain_k):
    K = query.shape[-1]
    longer = (torch.rsqrt(torch.einsum("...k,...k->...", x, x) / K + 1e-6) for x in (query, key))
    of_queries, of_keys = longer
    products = torch.einsum("...tk,k,...sk->...ts", query, gain_q * gain_k, key)
    return products * of_queries[..., :, None] * of_keys[..., None, :] * K**-0.5


# Root mean squares: 5 for the query, which becomes (0.2, 1.4, 1.4, 0.2), and 1, 1 and 10 for the keys
QUERY = torch.tensor([[1.0, 7.0, 7.0, 1.0]])
KEYS = torch.tensor([[1.0, 1.0, 1.0, 1.0], [2.0, 0.0, 0.0, 0.0], [10.0, 10.0, 10.0, 10.0]])
ONES = torch.ones(4)


qk_norm_scores.example("one query and three keys; one of them ten times another", call(QUERY, KEYS, ONES, ONES))
qk_norm_scores.example(
    "gains of queries and of keys",
    call(QUERY, KEYS, torch.tensor([1.0, 2.0, 1.0, 1.0]), torch.tensor([3.0, 1.0, 0.0, 1.0])),
    check_types=True,
)
qk_norm_scores.example("a vector of zeros, with gradients", call(torch.zeros(1, 4), KEYS, ONES, ONES).with_gradients())


def drawn(draw, *leading, T=4, S=6, K=5, scale=1.0, **options):
    """Queries, keys and gains with these leading dimensions."""
    return (
        draw.normal(*leading, T, K, scale=scale, **options),
        draw.normal(*leading, S, K, scale=scale, **options),
        draw.uniform(K, low=0.5, high=2.0, **options),
        draw.uniform(K, low=-2.0, high=-0.5, **options),
    )


@qk_norm_scores.criterion("each vector by its own root mean square, times its gain", points=0.5)
def _(draw):
    yield call(*drawn(draw))
    yield call(*drawn(draw, T=1, S=7, K=3))
    yield call(*drawn(draw, 2, 3, T=5, S=4, K=6))
    yield call(*drawn(draw, 3, T=4, S=4, K=2))
    yield call(*drawn(draw, T=3, S=5, K=1)).label("vectors of width 1")
    # 1e-6 is part of the mean of small squares, and nothing beside that of large ones
    yield call(*drawn(draw, scale=1e-3)).label("vectors of about 0.001")
    yield call(*drawn(draw, scale=3e3)).label("vectors of about 3000")
    query, key, gain_q, gain_k = drawn(draw)
    sizes = torch.tensor([1e-3, 0.1, 10.0, 1e3])[:, None]
    yield call(query * sizes, key, gain_q, gain_k).label("queries of different sizes")
    yield call(query + 3.0, key, gain_q, gain_k).label("queries with a mean that is not 0")
    yield after(drawn(draw), drawn(draw))


@qk_norm_scores.criterion(
    "gradients; float64, any layout and device, arguments left alone", points=0.5, check_types=True
)
def _(draw):
    yield call(*drawn(draw)).with_gradients()
    query, key, gain_q, gain_k = drawn(draw, 2)
    query[0, 1] = key[1, 2] = 0.0
    yield call(query, key, gain_q, gain_k).with_gradients().label("a query and a key of zeros")
    yield call(*drawn(draw, 2, dtype=torch.float64))
    yield call(*map(non_contiguous, drawn(draw, 3))).does_not_mutate()
    yield call(*drawn(draw)).does_not_mutate()
    yield call(*drawn(draw)).device_only()
