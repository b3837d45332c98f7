"""`delta_rule`, an exercise without points: linear attention that corrects what it has stored."""

import torch

from grading.exercises.exercise import call, non_contiguous, step

delta_rule = step(
    "delta_rule",
    forbidden=("scaled_dot_product_attention", "MultiheadAttention", "multi_head_attention_forward"),
    see="Exercise: `delta_rule(query, key, value, beta, state=None)` (extra)",
    hints=(
        "The state has stored one value under the key (1, 0). What does `key @ state` give? And what should be added, "
        "so that it gives another value?",
        "For each position: read what the state has under the key, take the difference from the new value, add beta "
        "times the outer product of key and difference, and only then read with the query.",
        "In a loop over t: the product of the key as a row, (..., 1, K), with the state is the value that is stored, "
        "(..., 1, V). The outer product of key and correction is (..., K, 1) times (..., 1, V). Add it with beta to a "
        "new state, read with the query as you read with the key, and stack the outputs along dimension -2.",
    ),
)


@delta_rule.oracle
def delta_rule_oracle(query, key, value, beta, state=None):
    if state is None:
        state = value.new_zeros(*key.shape[:-2], key.shape[-1], value.shape[-1])
    outputs = []
    for q, k, v, b in zip(*(x.unbind(-2) for x in (query, key, value, beta.unsqueeze(-1))), strict=True):
        error = v - torch.einsum("...k,...kv->...v", k, state)
        state = state + torch.einsum("...k,...v->...kv", k, b * error)
        outputs.append(torch.einsum("...k,...kv->...v", q, state))
    return torch.stack(outputs, dim=-2), state


one = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
delta_rule.example("the worked example", call(one, one, torch.tensor([[4.0], [10.0]]), torch.tensor([1.0, 0.5])))
delta_rule.example(
    "keys that are not orthogonal, continued from a state",
    call(
        torch.tensor([[1.0, 1.0]]),
        torch.tensor([[1.0, 2.0]]),
        torch.tensor([[3.0, -1.0]]),
        torch.tensor([0.25]),
        torch.tensor([[1.0, 0.0], [2.0, 1.0]]),
    ),
)
delta_rule.example(
    "float64 stays float64",
    call(*(x.double() for x in (one, one, torch.tensor([[4.0], [10.0]]), torch.tensor([1.0, 0.5])))),
    check_types=True,
)


def drawn(draw, *lead, T, K, V, state=False, **options):
    """Queries, keys, values and betas of T positions; keys have a length of about 1, as in published models."""
    args = [draw.normal(*lead, T, width, scale=scale, **options) for width, scale in ((K, 1.0), (K, K**-0.5), (V, 1.0))]
    beta = draw.uniform(*lead, T, low=0.2, high=0.9, **options)
    return (*args, beta, draw.normal(*lead, K, V, **options)) if state else (*args, beta)


@delta_rule.criterion("outputs and the last state", points=1)
def _(draw):
    yield call(*drawn(draw, T=5, K=3, V=4))
    yield call(*drawn(draw, T=7, K=4, V=2))
    yield call(*drawn(draw, T=1, K=3, V=5))


@delta_rule.criterion("continues from a state", points=0.5)
def _(draw):
    yield call(*drawn(draw, T=4, K=3, V=5, state=True))
    yield call(*drawn(draw, 2, T=3, K=5, V=4, state=True)).does_not_mutate()


@delta_rule.criterion("several texts and heads, and gradients", points=0.25)
def _(draw):
    yield call(*drawn(draw, 2, 3, T=5, K=4, V=6))
    yield call(*drawn(draw, 2, T=4, K=3, V=5)).with_gradients()
    yield call(*drawn(draw, 2, T=3, K=2, V=4, state=True)).with_gradients()


@delta_rule.criterion("float64, any layout and device", points=0.25, check_types=True)
def _(draw):
    yield call(*drawn(draw, T=4, K=3, V=2))
    yield call(*drawn(draw, 2, T=4, K=3, V=5, dtype=torch.float64))
    yield call(*map(non_contiguous, drawn(draw, 2, T=4, K=3, V=5)))
    yield call(*drawn(draw, 2, T=3, K=4, V=5)).device_only()
