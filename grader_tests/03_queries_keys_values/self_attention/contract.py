"""`self_attention`: projections, then attention, all from one x."""

import torch

from grading.exercises.exercise import call, step

self_attention = step(
    "self_attention",
    result_names=("output", "weights"),
    see="Exercise: self-attention",
    hints=(
        "Which three tensors does `attention` need? Which function makes them?",
        "`project_qkv` returns query, key and value; pass them to `attention`, and return what it returns.",
    ),
)


@self_attention.oracle
def self_attention_oracle(x, W_q, W_k, W_v):
    query, key, value = (torch.einsum("...td,dk->...tk", x, W) for W in (W_q, W_k, W_v))
    weights = torch.softmax(torch.einsum("...tk,...sk->...ts", query, key), -1)
    return torch.einsum("...ts,...sv->...tv", weights, value), weights


self_attention.example(
    "the worked example",
    call(
        torch.tensor([[1.0, 2.0]]),
        torch.tensor([[1.0], [0.0]]),
        torch.tensor([[0.0], [3.0]]),
        torch.tensor([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]),
    ),
)
self_attention.example(
    "two words",
    call(
        torch.tensor([[1.0, 0.0], [0.0, 1.0]]),
        torch.tensor([[1.0, 0.0], [0.0, 2.0]]),
        torch.tensor([[0.0, 1.0], [1.0, 0.0]]),
        torch.tensor([[1.0, 2.0], [3.0, 4.0]]),
    ),
)


@self_attention.criterion("output and weights")
def _(draw):
    yield call(*(draw.normal(*shape) for shape in ((5, 6), (6, 4), (6, 4), (6, 3))))
    yield call(*(draw.normal(*shape) for shape in ((4, 3), (3, 3), (3, 3), (3, 3))))
    yield call(*(draw.normal(*shape) for shape in ((2, 5, 4), (4, 3), (4, 3), (4, 6))))
