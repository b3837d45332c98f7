"""Right functions for a real model opened."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

__all__ = ["ablate", "induction_score", "load_gpt2", "logit_lens", "necessary_heads", "qk_circuit", "split_qkv"]
PUBLISHED = {
    "tokens": "wte",
    "places": "wpe",
    "norm": "ln_f",
    "norm_1": "ln_1",
    "norm_2": "ln_2",
    "attention.W_o": "attn.c_proj",
    "mlp.0": "mlp.c_fc",
    "mlp.2": "mlp.c_proj",
    **{f"attention.W_{letter}": "attn.c_attn" for letter in "qkv"},
}  # the model's parts -> the checkpoint's; one whose last name begins with "c_" is stored turned
Pairs = list[tuple[int, int]]  # (layer, head)


def split_qkv(weight: Tensor, bias: Tensor) -> tuple[tuple[Tensor, Tensor], ...]:
    """A fused layer's weight (D, 3 * D) and bias (3 * D,) as three layers', by unflatten."""
    weights, biases = weight.unflatten(1, (3, -1)).permute(1, 2, 0), bias.unflatten(0, (3, -1))
    return tuple((W.clone(), b.clone()) for W, b in zip(weights, biases, strict=True))


def load_gpt2(model: nn.Module, checkpoint: Mapping[str, Tensor]) -> nn.Module:
    """Copy a checkpoint in GPT-2's names into a `gpt.GPT`, one of the model's names after another.

    Raises KeyError for a name that is missing, and ValueError for another shape; then nothing was copied.
    """
    found = {}
    for name, place in model.state_dict().items():
        block, part, kind = re.fullmatch(r"(?:blocks\.(\d+)\.)?(.+)\.(weight|bias)", name).groups()  # type: ignore[union-attr]
        theirs = f"{f'h.{block}.' if block else ''}{PUBLISHED[part]}.{kind}"
        stored, wanted = checkpoint[theirs], list(place.shape)
        if ".c_" in theirs:
            wanted.reverse()
        if "c_attn" in theirs:
            wanted[-1] *= 3
        if list(stored.shape) != wanted:
            raise ValueError(f"{theirs} has the shape {tuple(stored.shape)}, and the model needs {tuple(wanted)}")
        if "c_attn" in theirs:
            stored = stored.chunk(3, dim=-1)["qkv".index(part[-1])]
        found[name] = stored.T if ".c_" in theirs and kind == "weight" else stored
    model.load_state_dict(found)
    return model


def logit_lens(hidden: Tensor, norm: nn.Module, unembedding: Tensor) -> Tensor:
    """The logits of each layer: hidden (L, B, T, D), unembedding (N, D) -> (L, B, T, N), by einsum."""
    return torch.einsum("...d,nd->...n", norm(hidden), unembedding)


def induction_score(weights: Tensor, period: int) -> Tensor:
    """The mean of a diagonal of weights (..., T, T), from the query `period` on. Raises ValueError."""
    if not 1 <= period < weights.shape[-1]:
        raise ValueError(f"period is {period}; it must be at least 1 and less than {weights.shape[-1]}")
    return weights.diagonal(1 - period, -2, -1)[..., 1:].mean(-1)


def ablate(head_outputs: Tensor, heads: Sequence[int], mean: Tensor | None = None) -> Tensor:
    """(B, H, T, K) with these heads at zero, or at their mean (H, K), by PyTorch's where."""
    gone = torch.tensor([head in heads for head in range(head_outputs.shape[1])], device=head_outputs.device)
    instead = head_outputs.new_zeros(()) if mean is None else mean[:, None]
    return torch.where(gone[:, None, None], instead, head_outputs)


def necessary_heads(loss_without: Callable[[Pairs], float], scores: Tensor, chance: float) -> Pairs:
    """Heads without which the loss is at least `chance`, found by putting back one after another.

    Raises ValueError if the loss without all heads is below `chance`.
    """
    kept: Pairs = [(layer, head) for layer in range(scores.shape[0]) for head in range(scores.shape[1])]
    if (loss := loss_without(kept)) < chance:
        raise ValueError(f"chance is {chance}, and the loss without all heads is {loss}")
    for pair in reversed(kept):
        fewer = [other for other in kept if other != pair]
        kept = fewer if loss_without(fewer) >= chance else kept
    return kept


def qk_circuit(W_q: Tensor, W_k: Tensor, head: int, n_heads: int) -> Tensor:
    """A head's unscaled scores of all pairs of unit vectors, (D, D), by linear layers. Raises ValueError."""
    width = W_q.shape[-1]
    if n_heads < 1 or width % n_heads:
        raise ValueError(f"n_heads is {n_heads}, and does not divide {width}")
    if not 0 <= head < n_heads:
        raise ValueError(f"head is {head}; the heads are 0 to {n_heads - 1}")
    units = torch.eye(width, dtype=W_q.dtype, device=W_q.device)
    query, key = (F.linear(units, W).tensor_split(n_heads, dim=-1)[head] for W in (W_q, W_k))
    return query @ key.mT
