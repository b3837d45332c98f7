"""`multi_head`, a step: multi-head attention from four matrices."""

import math

import torch

from grading.exercises.exercise import call, step

from ...shared import BUILT_IN
from ..common import four_matrices

multi_head = step(
    "multi_head",
    result_names=("output", "weights"),
    see="Exercise: all heads at once",
    forbidden=BUILT_IN,
    hints=(
        "Project, split, attend, merge, project. Which of the five need the number of heads?",
        "`split_heads(x @ W, n_heads)` for each of the three matrices, then `attend`, which takes all heads at once.",
        "`merge_heads(<output of attend>) @ W_o`, and the weights as they are.",
    ),
)


@multi_head.oracle
def multi_head_oracle(x, W_q, W_k, W_v, W_o, n_heads):
    size = x.shape[-1] // n_heads
    weights, output = [], torch.zeros_like(x)
    for first in range(0, x.shape[-1], size):
        q, k, v = (x @ W[:, first : first + size] for W in (W_q, W_k, W_v))
        weights.append(torch.softmax(torch.einsum("btk,bsk->bts", q, k) / math.sqrt(size), dim=-1))
        output = output + weights[-1] @ v @ W_o[first : first + size]
    return output, torch.stack(weights, dim=1)


eye = torch.eye(2)
multi_head.example("the worked example", call(torch.tensor([[[1.0, 2.0], [3.0, 6.0]]]), 0 * eye, eye, eye, eye, 2))
multi_head.example(
    "two sentences of two words, two heads of width 2",
    call(torch.arange(16.0).view(2, 2, 4).sin(), *(torch.arange(16.0).view(4, 4).cos() * n for n in (1, 2, 3, 4)), 2),
)


@multi_head.criterion("output and weights")
def _(draw):
    yield call(draw.normal(2, 5, 12), *four_matrices(draw, 12), 3)
    yield call(draw.normal(3, 4, 6), *four_matrices(draw, 6), 2)
    yield call(draw.normal(1, 3, 4), *four_matrices(draw, 4), n_heads=4)
    yield call(draw.normal(2, 3, 5), *four_matrices(draw, 5), 1).does_not_mutate()
