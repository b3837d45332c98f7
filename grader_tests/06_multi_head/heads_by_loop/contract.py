"""`heads_by_loop`, a step: one head after the other, outputs side by side."""

import math

import torch

from grading.exercises.exercise import call, step

from ...shared import BUILT_IN

heads_by_loop = step(
    "heads_by_loop",
    see="Exercise: heads in a loop",
    forbidden=BUILT_IN,
    hints=(
        "What does one round of the loop need, and what does it add to the result?",
        "`for W_q, W_k, W_v in heads:`, project `x` with each matrix, and collect the *output* of `attend` in a list.",
        "`torch.cat(<list of outputs>, dim=-1)` puts them side by side.",
    ),
)


@heads_by_loop.oracle
def heads_by_loop_oracle(x, heads):
    q, k, v = (torch.stack([x @ head[i] for head in heads]) for i in range(3))
    weights = torch.softmax(torch.einsum("htk,hsk->hts", q, k) / math.sqrt(q.shape[-1]), dim=-1)
    return torch.einsum("hts,hsk->thk", weights, v).flatten(1)


one, zero = torch.tensor([[1.0], [0.0]]), torch.tensor([[0.0], [0.0]])
other = torch.tensor([[0.0], [1.0]])
heads_by_loop.example(
    "the worked example",
    call(torch.tensor([[1.0, 2.0], [3.0, 6.0]]), [(zero, zero, one), (zero, zero, other)]),
)
heads_by_loop.example(
    "two words, two heads of width 1",
    call(torch.tensor([[1.0, 0.0], [0.0, 2.0]]), [(one, other, one), (other, one, other)]),
)


def matrices(draw, n_heads, width, size):
    return [tuple(draw.normal(width, size) for _ in range(3)) for _ in range(n_heads)]


@heads_by_loop.criterion("the outputs of all heads, side by side")
def _(draw):
    yield call(draw.normal(5, 6), matrices(draw, 3, 6, 2))
    yield call(draw.normal(4, 8), matrices(draw, 2, 8, 4))
    yield call(draw.normal(3, 4), matrices(draw, 1, 4, 4)).does_not_mutate()
