"""Checkers of attention modules."""

from __future__ import annotations

import torch

from ..harness.program import Observation
from .registry import Problem, checker


@checker
def zero_for_fully_masked_rows(seen: Observation, mask: torch.Tensor, shape: tuple[int, ...]) -> Problem:
    """Fully masked rows have weights and output 0; values and gradients are finite.

    shape  shape of the weights, (B, H, T, S); the mask broadcasts to it
    """
    full = mask.expand(shape).all(-1)  # (B, H, T)
    empty = full.all(1)  # (B, T): blocked in every head, so that W_o mixes nothing but zeros
    output, given = seen.values["out"]
    if tuple(given.shape) != tuple(shape) or output.shape[:2] != empty.shape:
        return f"wrong shapes: got output {tuple(output.shape)} and weights {tuple(given.shape)}"
    if not (torch.isfinite(output).all() and torch.isfinite(given).all()):
        return "the output or the weights of a fully masked row are NaN or infinite"
    if given[full].any():
        return "the weights of a fully masked row are not all 0"
    if not given[full.any(1, keepdim=True) & ~full].any(-1).all():
        return "a row that is fully masked in one head has no weights in another head, where it has open keys"
    if output[empty].any():
        return "the output of a fully masked row is not 0"
    bad = [name for name, g in (seen.gradients or {}).items() if g is not None and not torch.isfinite(g).all()]
    return f"the gradient for `{bad[0]}` is NaN or infinite" if bad else None


@checker
def gradients_flow(seen: Observation) -> Problem:
    """Every weight of the contract gets a finite gradient that is not 0."""
    for name in ("module.W_q.weight", "module.W_k.weight", "module.W_v.weight", "module.W_o.weight", "x"):
        gradient = (seen.gradients or {}).get(name)
        if gradient is None or not gradient.any():
            return f"in training mode, with dropout, no gradient reaches `{name}`"
        if not torch.isfinite(gradient).all():
            return f"in training mode, with dropout, the gradient for `{name}` is NaN or infinite"
    return None
