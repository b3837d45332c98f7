"""Three tests that catch a wrong layer of attention before it is trained, of lesson 06."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

Function = Callable[..., Any]


def report(layers: Mapping[str, Any], reference: Any, give_weights: Function, shuffle_error: Function) -> None:
    """Print the largest difference that each test finds, for layers of width 32, called as layer(x, mask=…).

    reference      a layer that is right
    give_weights   (layer, W_q, W_k, W_v, W_o) -> the layer with these matrices (32, 32)
    shuffle_error  (output, output of the shuffled words, order) -> the largest difference
    """
    for name, layer in layers.items():
        found = _examine(layer, reference, give_weights, shuffle_error)
        marks = (f"{what}: {'✗' if size > 1e-4 else '✓'} {size:.0e}" for what, size in found.items())
        print(f"{name:12}", "   ".join(marks))


@torch.no_grad()
def _examine(attention: Any, reference: Any, give_weights: Function, shuffle_error: Function) -> dict[str, float]:
    generator = torch.Generator().manual_seed(5)
    x = torch.randn(4, 8, 32, generator=generator)
    order = torch.randperm(8, generator=generator)
    causal = torch.ones(8, 8, dtype=torch.bool).triu(1)
    changed = torch.cat([x[:, :-1], torch.randn(4, 1, 32, generator=generator)], dim=1)
    matrices = [torch.randn(32, 32, generator=generator) / 32**0.5 for _ in range(4)]
    for layer in (attention, reference):
        give_weights(layer, *matrices)
    earlier = attention(x, mask=causal)[0] - attention(changed, mask=causal)[0]
    return {
        "shuffle": float(shuffle_error(attention(x)[0], attention(x[:, order])[0], order)),
        "change the last word": float(earlier[:, :-1].abs().max()),
        "compare": float((attention(x)[0] - reference(x)[0]).abs().max()),
    }
