"""`tiled_attention`: attention to all keys, a tile of them at a time."""

import math

import torch

from grading.exercises.exercise import call, exercise, non_contiguous

from ...shared.repeating import after
from ..common import FAR, NOT_ALLOWED, WIDE, blocked_in_part, drawn, far_out, on_paper, sum_far_out
from .cases import measured, some_open

tiled_attention = exercise(
    "tiled_attention",
    result_names=("output", "lse"),
    forbidden=NOT_ALLOWED,
    see="Exercise: `tiled_attention(query, key, value, mask=None, tile=64)`",
    hints=(
        "You can attend to a part of the keys, and put two parts together. What is left to be done is a loop. What "
        "does it begin with?",
        "Go over the keys by `range(0, S, tile)`: a slice that goes past the end is simply shorter. Take the same "
        "slice of keys, values and, along its last dimension, of the mask. Let the first tile be the result so far, "
        "and merge every other into it.",
        "A mask that broadcasts may have a last dimension of 1, which cannot be cut: `mask.expand(..., S)` first, "
        "which makes a view and no new numbers. `tile` may be larger than S; only `tile < 1` is an error, which "
        "names `tile` and its value.",
    ),
)


@tiled_attention.oracle
def tiled_attention_oracle(query, key, value, mask=None, tile=64):
    if tile < 1:
        raise ValueError(f"tile is {tile}, and must be at least 1")
    width, S = query.shape[-1], key.shape[-2]
    mask = torch.zeros((), dtype=torch.bool, device=query.device) if mask is None else mask
    mask = mask.expand(*query.shape[:-1], S)
    lowest = torch.finfo(query.dtype).min  # the maximum before any key: finite, so that differences are
    level, total, output = torch.full_like(query[..., 0], lowest), 0.0, 0.0
    for part in range(0, S, tile):
        keys, values = key[..., part : part + tile, :], value[..., part : part + tile, :]
        scores = torch.einsum("...tk,...sk->...ts", query, keys) / width**0.5
        scores = scores.masked_fill(mask[..., part : part + tile], -math.inf)
        highest = torch.maximum(level, scores.detach().amax(-1))
        powers, shrink = torch.exp(scores - highest.unsqueeze(-1)), torch.exp(level - highest)
        total = total * shrink + powers.sum(-1)
        output = output * shrink.unsqueeze(-1) + torch.einsum("...ts,...sv->...tv", powers, values)
        level = highest
    empty = level == lowest
    total = total.masked_fill(empty, 1.0)
    lse = (level.masked_fill(empty, 0.0) + total.log()).masked_fill(empty, -math.inf)
    return output / total.unsqueeze(-1), lse


def three_keys():
    """The two keys of `on_paper`, and a third that equals the second."""
    query, key, _ = on_paper()
    return query, torch.cat([key, key[1:]]), torch.tensor([[4.0], [8.0], [1.0]])


tiled_attention.example("three keys, two at a time", call(*three_keys(), tile=2), check_types=True)
tiled_attention.example("one at a time, and all at once", call(*three_keys(), tile=1), call(*three_keys(), tile=64))
tiled_attention.example(
    "a mask, and a row that sees nothing", call(*three_keys(), torch.tensor([[False, True, True]]), tile=1),
    call(*three_keys(), torch.tensor([[True, True, True]]), tile=2),
)  # fmt: skip
tiled_attention.example("a tile of nothing", call(*three_keys(), tile=0).raises("tile"))


@tiled_attention.criterion("the same for any tile", points=0.5)
def _(draw):
    for tile in (1, 2, 3, 4, 6, 7, 64):
        yield call(*drawn(draw), tile=tile)
    yield call(*drawn(draw, T=3, S=1, K=2, V=2), tile=1).label("a single key")
    yield call(*drawn(draw, T=3, S=150, K=4, V=2)).label("150 keys, with the default tile")
    yield call(*drawn(draw, T=7, S=5, K=3, V=2), tile=2)
    yield call(*drawn(draw, T=5, S=5, K=3, V=2), None, 3)
    yield after(drawn(draw), drawn(draw))


@tiled_attention.criterion("with a mask, in batches, and with masks that broadcast", points=0.5)
def _(draw):
    for tile in (1, 2, 4, 9):
        yield call(*drawn(draw, scale=2.0), some_open(draw, 4, 6), tile=tile)
    yield call(*drawn(draw, T=5, S=5, K=3, V=2), torch.ones(5, 5, dtype=torch.bool).triu(1), tile=2)
    yield call(*drawn(draw, T=3, S=70, K=3, V=2), some_open(draw, 3, 70))
    query, key, value = drawn(draw, 2, 3)
    yield call(query, key, value, tile=4)
    yield call(query, key, value, some_open(draw, 2, 3, 4, 6), tile=4)
    yield call(query, key, value, some_open(draw, 4, 6), tile=1)
    yield call(query, key, value, some_open(draw, 2, 1, 1, 6), tile=2)
    yield call(query, key, value, some_open(draw, 6), tile=5)
    yield call(query, key, value, torch.tensor([False, True, False, False])[:, None], tile=4).label(
        "a mask (4, 1) that blocks whole rows"
    )
    yield call(*drawn(draw, 1, 3), some_open(draw, 4, 6), tile=4).label("a batch of one sentence, with three heads")


@tiled_attention.criterion("tiles and rows that see nothing, scores up to ±10,000", points=0.5)
def _(draw):
    yield call(*drawn(draw), blocked_in_part(draw, 4, 6), tile=2)
    yield call(*drawn(draw, 2), torch.ones(4, 6, dtype=torch.bool), tile=4)
    first = torch.tensor([True, True, True, False, False, True])
    yield call(*drawn(draw), first, tile=2).label("a first tile that nobody sees")
    yield call(*drawn(draw), first.flip(0), tile=1).label("a last tile that nobody sees")
    yield call(*far_out(draw), tile=2).tolerance(*FAR)
    yield call(*far_out(draw), blocked_in_part(draw, 4, 6), tile=1).tolerance(*FAR)
    query, key, value = far_out(draw)
    yield sum_far_out(query, key, value, level=10000.0 * query[:, 0], tile=2)
    # The best key comes last: earlier sums must shrink to nothing
    query, key, value = far_out(draw, T=2)
    key[:3, 0] = -20000.0
    yield call(query, key, value, tile=2).tolerance(*FAR)


@tiled_attention.criterion("one pass, never more than T x tile scores", points=2.5)
def _(draw):
    yield measured(draw, T=24, S=100, K=1, V=1, tile=16)
    yield measured(draw, T=40, S=36, K=1, V=1, tile=3)
    yield measured(draw, 2, T=25, S=60, K=1, V=1, tile=8)
    yield measured(draw, T=20, S=200, K=1, V=1)
    yield measured(draw, T=20, S=90, K=1, V=1, tile=16, mask=some_open(draw, 20, 90))
    # Wide keys and narrow values: two passes over the keys need 17 multiplications per pair instead of 9
    yield measured(draw, T=20, S=96, K=8, V=1, tile=32)


@tiled_attention.criterion("bad tiles are refused, good ones are not", points=0.5)
def _(draw):
    yield call(*drawn(draw), tile=0).raises("tile")
    yield call(*drawn(draw), None, -3).raises("tile")
    yield call(*drawn(draw), tile=1).does_not_raise()
    yield call(*drawn(draw), tile=100).does_not_raise()


@tiled_attention.criterion(
    "gradients, never NaN; float64, any layout and device, arguments left alone", points=0.5, check_types=True
)
def _(draw):
    yield call(*drawn(draw), tile=4).with_gradients()
    yield call(*drawn(draw, 2, T=1, S=5, K=7, V=4), some_open(draw, 5), tile=2).with_gradients()
    mask = blocked_in_part(draw, 4, 6, rows=(0, 2))
    mask[1, :2], mask[1, 4], mask[3, 0] = True, False, False  # in every draw: row 1 sees nothing in the first tile
    yield call(*drawn(draw, 2), mask, tile=2).with_gradients()
    yield call(*drawn(draw), tile=4).does_not_mutate()
    yield call(*drawn(draw, T=5, S=5, K=2, V=2, dtype=torch.float64), tile=2)
    yield call(*drawn(draw, T=2, S=7, K=3, V=9, dtype=torch.float64), some_open(draw, 2, 7), tile=3).tolerance(*WIDE)
    yield call(*map(non_contiguous, drawn(draw)), mask=non_contiguous(some_open(draw, 4, 6)), tile=4)
    yield call(*drawn(draw, 2), some_open(draw, 4, 6), tile=2).does_not_mutate()
    yield call(*drawn(draw), some_open(draw, 4, 6), tile=4).device_only()
    yield call(*drawn(draw), tile=4).device_only()
