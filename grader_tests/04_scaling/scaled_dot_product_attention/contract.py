"""`scaled_dot_product_attention`: attention with scores times 1 / √Dk or a given scale."""

import math

import torch

from grading.exercises.exercise import call, exercise, non_contiguous

from ...shared import BUILT_IN
from ...shared.repeating import after
from ..common import ON_PAPER, three

scaled_dot_product_attention = exercise(
    "scaled_dot_product_attention",
    result_names=("output", "weights"),
    see="4. Scaled dot-product attention",
    forbidden=BUILT_IN,
    hints=(
        "Your `attention` computes scores, weights, and a weighted sum. After which of these does the scale belong? "
        "And what is `scale or something` if `scale` is 0.0?",
        "Only `None` means the default. The width Dk is the last dimension of the given query, however many dimensions "
        "come before it. Multiply all scores by the scale, before the softmax over the keys.",
        "The shape of the code: `if scale is ...: scale = ...`; `scores = ... * scale`, `(..., T, S)`; "
        "`weights = ...`, the softmax over the last dimension; `return ..., weights`, the first `(..., T, Dv)`.",
    ),
)


@scaled_dot_product_attention.oracle
def scaled_dot_product_attention_oracle(query, key, value, scale=None):
    factor = 1.0 / math.sqrt(query.size(-1)) if scale is None else scale
    weights = torch.einsum("...tk,...sk->...ts", query, key).mul(factor).softmax(dim=-1)
    return torch.einsum("...ts,...sv->...tv", weights, value), weights


scaled_dot_product_attention.example("on paper", call(*ON_PAPER).does_not_mutate())
scaled_dot_product_attention.example("with scale=0.0", call(*ON_PAPER, scale=0.0))
scaled_dot_product_attention.example("with scale=1.0", call(*ON_PAPER, scale=1.0))


@scaled_dot_product_attention.example("a batch of two, two queries, three keys")
def _():
    query = torch.tensor([[[1.0, 2.0], [0.0, -1.0]], [[2.0, 0.0], [1.0, 1.0]]])
    key = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [[-1.0, 0.0], [0.0, 2.0], [1.0, 0.0]]])
    value = torch.tensor([[[1.0], [2.0], [4.0]], [[3.0], [0.0], [6.0]]])
    yield call(query, key, value).with_gradients()


scaled_dot_product_attention.example(
    "float32 in, float32 out; float64 in, float64 out",
    *(
        call(
            torch.tensor([[0.5, 1.0, 0.0, 2.0]], dtype=dtype),
            torch.tensor([[1.0, 0.0, 1.0, 1.0], [0.1, 1.0, 0.0, 0.0]], dtype=dtype),
            torch.tensor([[4.0], [0.3]], dtype=dtype),
        )
        for dtype in (torch.float32, torch.float64)
    ),
    check_types=True,
)


@scaled_dot_product_attention.example("two leading dimensions, and wide vectors")
def _():
    query, key, value = (
        torch.sin(step * torch.arange(2.0 * 3 * n * m)).reshape(2, 3, n, m)
        for step, n, m in ((1.0, 2, 36), (1.3, 5, 36), (0.7, 5, 4))
    )
    yield call(query, key, value)


@scaled_dot_product_attention.criterion("the default scale, at any width", points=2.5)
def _(draw):
    yield call(*three(draw))
    yield call(*three(draw, T=4, S=3, K=64, V=2))
    yield call(*three(draw, T=5, S=4, K=1, V=3))
    yield call(*three(draw, T=1, S=6, K=9, V=1))
    yield call(*three(draw, T=3, S=1, K=2, V=4))
    yield after(*(three(draw, T=2, S=4) for _ in "ab"))
    query, key, value = three(draw)
    key[draw.integer(0, 5)] = 0.0
    yield call(query, key, value).label("one key of five is all zeros")


@scaled_dot_product_attention.criterion("any leading dimensions", points=1.5, tries="leading")
def _(draw):
    yield call(*three(draw, 2, K=7))
    yield call(*three(draw, 2, 7, T=4, K=3))
    yield call(*three(draw, 2, 1, 3, T=1, S=4, K=5, V=2))
    yield call(*three(draw, 2, 3, K=9), scale=draw.number(1.5, 2.5)).tries("leading", "given")


@scaled_dot_product_attention.criterion("a given scale", points=1.5, tries="given")
def _(draw):
    yield call(*three(draw), scale=draw.number(0.15, 0.3))
    yield call(*three(draw, K=9), scale=draw.number(1.5, 2.5))
    yield call(*three(draw), scale=1.0)
    yield call(*three(draw), -draw.number(0.5, 0.9))
    # Scaled scores around 50 and -50: their exponentials are finite, but that of the difference is not
    query, key, value = three(draw, T=2)
    query[:, 0] = torch.tensor([10.0, -10.0])
    key[:, 0] = torch.tensor([10.0, 10.0, -10.0, -10.0, -10.0])[draw.permutation(5)]
    yield call(query, key, value, scale=-0.5).label("scale=-0.5, and scores between -100 and 100")


@scaled_dot_product_attention.criterion("a scale of zero", points=1, tries="zero")
def _(draw):
    yield call(*three(draw), scale=0.0)
    yield call(*three(draw, T=2, S=3), scale=0.0)


@scaled_dot_product_attention.criterion("gradients", points=1)
def _(draw):
    yield call(*three(draw)).with_gradients().does_not_mutate()
    yield call(*three(draw), scale=draw.number(0.6, 0.9)).with_gradients().does_not_mutate().tries("given")


# Small whole numbers, and one large number in each vector: the scores are around 196 in one row and around -196 in the
# next, where exponentials overflow or vanish, even if one maximum is subtracted from all rows. Every order of
# operations computes them without rounding (the root of K = 16 is whole).
@scaled_dot_product_attention.criterion("large scores", points=1, tries="large")
def _(draw):
    query, key = (draw.integers(-2, 3, n, 16).float() for n in (4, 5))
    query[:, 0], key[:, 0] = torch.tensor([28.0, -28.0, 28.0, -28.0])[draw.permutation(4)], 28.0
    yield call(query, key, draw.normal(5, 3))


# K = 16, so that a factor computed in float32 is exact, too. Scores around 36 lose digits after the
# point in float32, which the weights show.
@scaled_dot_product_attention.criterion(
    "float64 stays float64, float32 float32, on any device", points=0.5, check_types=True
)
def _(draw):
    yield call(*three(draw))
    yield call(*three(draw)).device_only()
    yield call(*three(draw, K=16, dtype=torch.float64))
    query, key, value = three(draw, K=16, dtype=torch.float64)
    query[:, 0], key[:, 0] = 12.0, 12.0
    yield call(query, key, value)


@scaled_dot_product_attention.criterion("arguments, contiguous or not, stay as they were", points=0.5)
def _(draw):
    yield call(*three(draw)).does_not_mutate()
    yield call(*three(draw), scale=0.5).does_not_mutate().tries("given")
    yield call(*(non_contiguous(x) for x in three(draw, K=8))).does_not_mutate()
    # heads split from wider vectors: (2, T, heads, K), then heads and positions exchanged
    split = (draw.normal(2, n, 3, m).transpose(1, 2) for n, m in ((4, 6), (5, 6), (5, 2)))
    yield call(*split).does_not_mutate().tries("leading")


@scaled_dot_product_attention.sizes(points=0.5, B=(1, 2, 10), T=(1, 3, 60), S=(1, 5, 60), Dk=(1, 6, 60), Dv=(1, 4, 60))
def _(draw, B, T, S, Dk, Dv):
    return call(*three(draw, B, T=T, S=S, K=Dk, V=Dv)).tries("leading")
