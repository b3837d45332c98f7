"""Right functions for softmax."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["entropy", "log_softmax", "softmax", "softmax_with_temperature"]


def softmax(x: Tensor, dim: int = -1) -> Tensor:
    """PyTorch's softmax along any dimension."""
    return torch.softmax(x, dim)


def log_softmax(x: Tensor, dim: int = -1) -> Tensor:
    """PyTorch's logarithm of the softmax along any dimension."""
    return torch.log_softmax(x, dim)


def softmax_with_temperature(x: Tensor, temperature: float, dim: int = -1) -> Tensor:
    """PyTorch's softmax of x / temperature, which is above 0."""
    return torch.softmax(x.div(temperature), dim=dim)


def entropy(p: Tensor, dim: int = -1) -> Tensor:
    """The entropy in nats of weights p along a dimension, by PyTorch's xlogy; its gradient is finite at 0."""
    return -torch.xlogy(p, torch.where(p > 0, p, torch.ones_like(p))).sum(dim)
