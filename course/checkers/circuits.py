"""Checkers of claims about heads, judged by removing them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import index
from typing import Any

from ..harness.program import Observation
from ..sample_models import PlantedCircuits
from .registry import Problem, checker


@checker
def removes_the_behaviour(seen: Observation, model: Mapping[str, Any], chance: float) -> Problem:
    """Without these heads the behaviour is gone, and with any one of them put back it is not.

    model  arguments of the `sample_models.PlantedCircuits` in which the heads are removed
    """
    heads = _pairs(seen.values["result"])
    if isinstance(heads, str):
        return heads
    n_layers, n_heads = len(model["jobs"]), len(model["jobs"][0])
    for layer, head in heads:
        if not (0 <= layer < n_layers and 0 <= head < n_heads):
            return f"there is no head ({layer}, {head}) in {n_layers} layers of {n_heads} heads"
    loss_without = PlantedCircuits(**model)
    loss = loss_without(heads)
    if loss < chance:
        return f"without {_listed(heads)}: expected a loss of at least {chance:.2f}, got {loss:.2f}"
    for pair in heads:
        others = [other for other in heads if other != pair]
        loss = loss_without(others)
        if loss >= chance:
            return (
                f"without {_listed(others)}: expected a loss below {chance:.2f}, got {loss:.2f}; {pair} is not needed"
            )
    return None


def _pairs(named: Any) -> list[tuple[int, int]] | str:
    """The heads that a result names, each once, or why it names none."""
    if not isinstance(named, (list, tuple)):
        return f"expected a list of pairs (layer, head), got {'None' if named is None else f'a {type(named).__name__}'}"
    heads = []
    for pair in named:
        try:
            layer, head = map(index, pair)
        except (TypeError, ValueError):
            return f"expected pairs (layer, head) of ints, got {str(pair)[:40]}"
        heads.append((layer, head))
    if len(set(heads)) < len(heads):
        return f"expected each head once, got {_listed(heads)}"
    return heads


def _listed(heads: Sequence[tuple[int, int]]) -> str:
    shown = ", ".join(map(str, heads[:4]))
    return f"{shown} and {len(heads) - 4} more" if heads[4:] else shown or "removing any head"
