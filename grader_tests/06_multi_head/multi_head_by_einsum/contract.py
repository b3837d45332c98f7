"""`multi_head_by_einsum`, a step: multi-head attention without split, merge and transpose."""

import math

import torch

from grading.exercises.exercise import call, step

from ...shared import BUILT_IN
from ..common import four_matrices

multi_head_by_einsum = step(
    "multi_head_by_einsum",
    result_names=("output", "weights"),
    see="Exercise: letters instead of transposes (extra)",
    forbidden=BUILT_IN,
    hints=(
        "Which letters does `x` have, which does `W_q.unflatten(1, (n_heads, -1))` have, and which one is summed over?",
        '`torch.einsum("btd,dhk->bhtk", x, …)` projects and splits at once. The scores are '
        '`"bhtk,bhsk->bhts"`: the sum runs over k, inside each head.',
        'At the end, `W_o.unflatten(0, (n_heads, -1))` is (H, K, D), and `"bhtk,hkd->btd"` sums over the heads.',
    ),
)


@multi_head_by_einsum.oracle
def multi_head_by_einsum_oracle(x, W_q, W_k, W_v, W_o, n_heads):
    q, k, v = (torch.stack((x @ W).chunk(n_heads, dim=-1), dim=1) for W in (W_q, W_k, W_v))
    weights = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), dim=-1)
    return torch.cat((weights @ v).unbind(1), dim=-1) @ W_o, weights


multi_head_by_einsum.example(
    "two sentences of two words, two heads of width 2",
    call(torch.arange(16.0).view(2, 2, 4).sin(), *(torch.arange(16.0).view(4, 4).cos() * n for n in (1, 2, 3, 4)), 2),
)


@multi_head_by_einsum.criterion("output and weights")
def _(draw):
    yield call(draw.normal(2, 5, 12), *four_matrices(draw, 12), 3)
    yield call(draw.normal(3, 4, 6), *four_matrices(draw, 6), 2)
    yield call(draw.normal(1, 3, 4), *four_matrices(draw, 4), n_heads=4)
