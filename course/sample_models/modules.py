"""Modules with weights to copy or count, and last layers: lessons 06 and 11."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import torch
from torch import Tensor, nn


def torch_attention(width: int, n_heads: int, batch_first: bool = False) -> nn.MultiheadAttention:
    """PyTorch's layer as the lesson uses it, without biases."""
    return nn.MultiheadAttention(width, n_heads, bias=False, batch_first=batch_first)


class Projections(nn.Module):
    """PyTorch's multi-head attention, its W_q, W_k, W_v, W_o registered in `order`."""

    def __init__(self, width: int, n_heads: int, order: Sequence[str] = ("W_q", "W_k", "W_v", "W_o")) -> None:
        super().__init__()
        self.n_heads = n_heads
        for name in order:
            self.add_module(name, nn.Linear(width, width, bias=False))

    def forward(
        self, x: Tensor, context: Tensor | None = None, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """x (B, T, D), context (B, S, D), mask (T, S) -> output (B, T, D), weights (B, H, T, S)."""
        query, source = x.transpose(0, 1), (x if context is None else context).transpose(0, 1)
        packed = torch.cat([self.get_parameter(f"W_{letter}.weight") for letter in "qkv"])
        output, weights = nn.functional.multi_head_attention_forward(
            query,
            source,
            source,
            x.shape[-1],
            self.n_heads,
            packed,
            None,
            None,
            None,
            False,
            0.0,
            self.get_parameter("W_o.weight"),
            None,
            attn_mask=mask,
            average_attn_weights=False,
        )
        return output.transpose(0, 1), weights


def assembled(
    parameters: Mapping[str, Sequence[int]],
    frozen: Iterable[str] = (),
    tied: Mapping[str, str] | None = None,
    buffers: Mapping[str, Sequence[int]] | None = None,
    lists: Mapping[str, Sequence[Sequence[int]]] | None = None,
) -> nn.Module:
    """Build a module from its parameters' names and shapes; dots separate parts.

    frozen   names of parameters that are not trained
    tied     name -> the parameter (or part) that is shared there
    buffers  names and shapes of tensors that are not parameters
    lists    name -> shapes of the parameters in an nn.ParameterList
    All parameters are 1, so that their values do not distinguish them.
    """
    whole = nn.Module()
    for name, shape in parameters.items():
        weight = nn.Parameter(torch.ones(tuple(shape)), name not in set(frozen))
        _part(whole, name).register_parameter(_last(name), weight)
    for name, shapes in (lists or {}).items():
        weights = nn.ParameterList(nn.Parameter(torch.ones(tuple(shape))) for shape in shapes)
        _part(whole, name).add_module(_last(name), weights)
    for name, other in (tied or {}).items():
        setattr(_part(whole, name), _last(name), getattr(_part(whole, other), _last(other)))
    for name, shape in (buffers or {}).items():
        _part(whole, name).register_buffer(_last(name), torch.ones(tuple(shape)))
    return whole


def _part(root: nn.Module, name: str) -> nn.Module:
    """The module that holds `name`; creates missing modules on its path."""
    for step in name.split(".")[:-1]:
        if step not in root._modules:
            root.add_module(step, nn.Module())
        root = root.get_submodule(step)
    return root


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def layer_norm(width: int, eps: float = 1e-5) -> nn.LayerNorm:
    """PyTorch's layer norm over `width` features."""
    return nn.LayerNorm(width, eps)


class Scaled(nn.Module):
    """A stand-in for a norm: multiplies each feature by its own `weight` (width,)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        """(..., width) -> (..., width)"""
        return x * self.weight
