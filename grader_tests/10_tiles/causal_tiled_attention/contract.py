"""`causal_tiled_attention`: tiles of queries and of keys; blocks above the diagonal are skipped."""

import math

import torch

from grading.exercises.exercise import call, exercise, non_contiguous

from ...shared.repeating import after
from ..common import FAR, NOT_ALLOWED, WIDE, drawn, far_out, on_paper
from .cases import measured

causal_tiled_attention = exercise(
    "causal_tiled_attention",
    result_names=("output", "lse"),
    forbidden=NOT_ALLOWED,
    see="Exercise: `causal_tiled_attention(query, key, value, tile=64)`",
    hints=(
        "Draw the scores of five queries and five keys with tile = 2, and mark the nine blocks. Which blocks have no "
        "pair that is allowed, which have only allowed pairs, and which have both?",
        "Two loops: over the tiles of queries, and inside it over the tiles of keys up to the queries' own. Only the "
        "last of these, on the diagonal, needs a mask. Merge over the keys; put the results of the tiles of queries "
        "one after another.",
        "`for first in range(0, T, tile)`, inside it `for start in range(0, <first, and one more>, tile)`. The mask of "
        "the block on the diagonal compares positions of keys with positions of queries. At the end `torch.cat` along "
        "the queries: -2 for the outputs, -1 for the log-sum-exps.",
    ),
)


@causal_tiled_attention.oracle
def causal_tiled_attention_oracle(query, key, value, tile=64):
    if tile < 1:
        raise ValueError(f"tile is {tile}, and must be at least 1")
    outputs, lses = [], []
    for first in range(0, query.shape[-2], tile):
        part = query[..., first : first + tile, :] / query.shape[-1] ** 0.5
        position = torch.arange(first, first + part.shape[-2], device=query.device)
        level, total, output = None, 0.0, 0.0
        for start in range(0, first + 1, tile):
            keys, values = key[..., start : start + tile, :], value[..., start : start + tile, :]
            scores = torch.einsum("...tk,...sk->...ts", part, keys)
            if start == first:
                scores = scores.masked_fill(position > position[:, None], -math.inf)
            highest = scores.detach().amax(-1)
            highest = highest if level is None else torch.maximum(level, highest)
            powers, shrink = (
                torch.exp(scores - highest[..., None]),
                0.0 if level is None else torch.exp(level - highest),
            )
            total = total * shrink + powers.sum(-1)
            output = (output * shrink[..., None] if start else 0.0) + torch.einsum("...ts,...sv->...tv", powers, values)
            level = highest
        outputs.append(output / total[..., None])
        lses.append(level + total.log())
    return torch.cat(outputs, -2), torch.cat(lses, -1)


def three_queries():
    """Three queries like the one on paper, the two keys of `on_paper`, and a third that equals the second."""
    query, key, _ = on_paper()
    return query.repeat(3, 1), torch.cat([key, key[1:]]), torch.tensor([[4.0], [8.0], [1.0]])


causal_tiled_attention.example("three positions, two in a tile", call(*three_queries(), tile=2), check_types=True)
causal_tiled_attention.example(
    "one in a tile, and all", call(*three_queries(), tile=1), call(*three_queries(), tile=64)
)
causal_tiled_attention.example("a tile of nothing", call(*three_queries(), tile=0).raises("tile"))


@causal_tiled_attention.criterion("the same for any tile, and in batches", points=0.5)
def _(draw):
    for tile in (1, 2, 3, 4, 6, 7, 64):
        yield call(*drawn(draw, T=6, S=6), tile=tile)
    yield call(*drawn(draw, T=1, S=1, K=2, V=3), tile=1).label("a single position")
    yield call(*drawn(draw, T=70, S=70, K=4, V=2)).label("70 positions, with the default tile")
    yield call(*drawn(draw, 2, 3, T=7, S=7), tile=3)
    yield call(*drawn(draw, 2, T=5, S=5, K=3, V=4, scale=2.0), 2)
    yield call(*drawn(draw, 1, 3, T=4, S=4), tile=2).label("a batch of one sentence, with three heads")
    yield call(*far_out(draw, T=6), tile=2).tolerance(*FAR)
    # The best keys come last: earlier sums must shrink to nothing
    query, key, value = far_out(draw, T=6)
    key[:3, 0] = -20000.0
    yield call(query, key, value, tile=2).tolerance(*FAR)
    yield after(drawn(draw, T=6, S=6), drawn(draw, T=6, S=6))


@causal_tiled_attention.criterion("blocks of at most tile x tile, none above the diagonal", points=1)
def _(draw):
    yield measured(draw, T=60, K=1, V=1, tile=12)
    yield measured(draw, T=100, K=1, V=1, tile=16)
    yield measured(draw, 2, T=50, K=1, V=1, tile=5)
    yield measured(draw, T=200, K=1, V=1)
    # Wide keys: all blocks of five by five need 1.7 times the multiplications of those on and below the diagonal
    yield measured(draw, T=40, K=8, V=3, tile=8)
    yield measured(draw, T=26, K=5, V=7, tile=6)
    yield measured(draw, 3, T=21, K=6, V=2, tile=5)


@causal_tiled_attention.criterion(
    "gradients, bad tiles, float64, any layout and device, arguments left alone", points=0.5, check_types=True
)
def _(draw):
    yield call(*drawn(draw, T=6, S=6), tile=4).with_gradients()
    yield call(*drawn(draw, 2, T=5, S=5, K=7, V=4), tile=2).with_gradients()
    yield call(*drawn(draw, T=6, S=6), tile=0).raises("tile")
    yield call(*drawn(draw, T=6, S=6), tile=-3).raises("tile")
    yield call(*drawn(draw, T=6, S=6), tile=1).does_not_raise()
    yield call(*drawn(draw, T=6, S=6), tile=100).does_not_raise()
    yield call(*drawn(draw, T=5, S=5, K=2, V=3, dtype=torch.float64), tile=2)
    yield call(*drawn(draw, T=7, S=7, K=3, V=9, dtype=torch.float64), tile=3).tolerance(*WIDE)
    yield call(*map(non_contiguous, drawn(draw, T=6, S=6)), tile=4).does_not_mutate()
    yield call(*drawn(draw, 2, T=6, S=6), tile=2).does_not_mutate()
    yield call(*drawn(draw, T=6, S=6), tile=4).device_only()
