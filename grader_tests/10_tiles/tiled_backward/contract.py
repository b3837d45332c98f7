"""`tiled_backward`: attention's backward pass from its output and log-sum-exp alone."""

import torch

from grading.exercises.exercise import call, exercise, non_contiguous

from ...shared.elsewhere import filled_elsewhere
from ...shared.repeating import after
from ..common import FAR, NOT_ALLOWED, WIDE
from .cases import far_out_passed, measured, passed

WITHOUT_AUTOGRAD = (
    "backward",
    "grad",
    "requires_?grad_?",
    "vjp",
    "jvp",
    "jac(obian|rev|fwd)",
    "linearize",
    "checkpoint.*",
)

tiled_backward = exercise(
    "tiled_backward",
    result_names=("grad_query", "grad_key", "grad_value"),
    forbidden=(*NOT_ALLOWED, *WITHOUT_AUTOGRAD),
    see="Exercise: `tiled_backward(query, key, value, output, lse, grad_output, tile=64)`",
    hints=(
        "The weights are gone. From the scores of a tile and what you are given, you can compute the same weights "
        "again: how did the forward pass make them from lse?",
        "Four steps for a tile: weights `exp(scores − lse)`; their transpose times `grad_output` is the gradient of "
        "its values; the gradient of its scores is weights · (grad_output @ valuesᵀ − D), where D is, for each "
        "query, the sum of `grad_output · output`; and scores are made of queries and keys, so their gradient goes "
        "to both.",
        "Of the queries every tile has a part of the gradient: add them up. Keys and values get theirs from their "
        "own tile: collect those and join them. Mind the scale, which is between scores and products: once for "
        "the queries' gradient, once for the keys'.",
    ),
)


@tiled_backward.oracle
def tiled_backward_oracle(query, key, value, output, lse, grad_output, tile=64):
    scale, root = query.shape[-1] ** -0.5, lse.unsqueeze(-1)
    average = torch.einsum("...tv,...tv->...t", grad_output, output).unsqueeze(-1)
    found = []
    for keys, values in zip(key.split(tile, -2), value.split(tile, -2), strict=True):
        weights = torch.exp(torch.einsum("...tk,...sk->...ts", query, keys) * scale - root)
        slopes = weights * (torch.einsum("...tv,...sv->...ts", grad_output, values) - average) * scale
        to_query = torch.einsum("...ts,...sk->...tk", slopes, keys)
        to_key = torch.einsum("...ts,...tk->...sk", slopes, query)
        found.append((to_query, to_key, torch.einsum("...ts,...tv->...sv", weights, grad_output)))
    to_query, to_key, to_value = zip(*found, strict=True)
    return sum(to_query), torch.cat(to_key, dim=-2), torch.cat(to_value, dim=-2)


def small():
    """One query of width 4, two keys: weights 1/4 and 3/4, values 4 and 8, output 7."""
    query = torch.tensor([[2.0, 0.0, 0.0, 0.0]])
    key = torch.tensor([[0.0, 1.0, 0.0, 0.0], [1.0986123, 0.0, 0.0, 0.0]])
    value = torch.tensor([[4.0], [8.0]])
    return query, key, value, torch.tensor([[7.0]]), torch.tensor([4.0]).log(), torch.tensor([[1.0]])


tiled_backward.example("the one on paper", call(*small()), check_types=True)
tiled_backward.example("the same, a key at a time", call(*small(), tile=1))


@tiled_backward.criterion("all keys in one tile", points=0.5)
def _(draw):
    yield call(*passed(draw))
    yield call(*passed(draw, T=1, S=5, K=7, V=4))
    yield call(*passed(draw, T=5, S=5, K=2, V=2))
    yield call(*passed(draw, T=3, S=1, K=6, V=2)).label("a single key")
    yield after(passed(draw), passed(draw))


@tiled_backward.criterion("any tile, and batches", points=0.5)
def _(draw):
    for tile in (1, 2, 4, 5, 6):
        yield call(*passed(draw), tile=tile)
    yield call(*passed(draw, T=3, S=150, K=4, V=2)).label("150 keys, with the default tile")
    yield call(*passed(draw, T=7, S=5, K=3, V=2), 2)
    yield call(*passed(draw, 2), tile=4)
    yield call(*passed(draw, 2, 3), tile=2)
    yield call(*passed(draw, 2, 3, T=3, S=3, K=3, V=3), tile=64)
    yield call(*passed(draw, 1, 3), tile=4).label("a batch of one sentence, with three heads")


@tiled_backward.criterion("scores up to ±10,000", points=0.5)
def _(draw):
    yield call(*far_out_passed(draw), tile=2).tolerance(*FAR)
    yield call(*far_out_passed(draw, level=400.0), tile=4).tolerance(*FAR)
    yield call(*passed(draw, scale=3.0), tile=4)


@tiled_backward.criterion("never more than T x tile scores", points=2)
def _(draw):
    yield measured(draw, T=24, S=100, K=1, V=1, tile=16)
    yield measured(draw, T=40, S=36, K=1, V=1, tile=3)
    yield measured(draw, 2, T=25, S=60, K=1, V=1, tile=8)
    yield measured(draw, T=20, S=200, K=1, V=1)


@tiled_backward.criterion("float64, any layout and device, arguments left alone", points=0.5, check_types=True)
def _(draw):
    yield call(*passed(draw), tile=4).does_not_mutate()
    yield call(*passed(draw, dtype=torch.float64), tile=4).tolerance(*WIDE)
    yield call(*passed(draw, 2, dtype=torch.float64), tile=2).does_not_mutate()
    yield call(*map(non_contiguous, passed(draw)), tile=4).does_not_mutate()
    yield call(*passed(draw), tile=4).device_only()
    yield filled_elsewhere("tiled_backward", *passed(draw), tile=4)
