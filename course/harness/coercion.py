"""The form of a result: its dtype, and whether a number is a tensor, numpy's or a plain one.

An exercise may judge form in a criterion of its own. Everywhere else a result is compared as if it had the form of a
right one, where that takes a conversion and nothing more: numbers count as numbers, and 1 and 0 as True and False.

Does not cover: shapes and structure, which are never converted; whether the numbers are right (`comparing.py`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from .program import Observation
from .serialization import Node


def coerce_types(seen: Observation, native: Observation) -> Observation:
    """`seen` with every result that differs from `native`'s in its form alone in that form."""
    right = native.values
    return replace(seen, values={n: _formed(v, right[n]) if n in right else v for n, v in seen.values.items()})


def _formed(found: Any, right: Any) -> Any:
    if isinstance(right, (list, tuple)) and isinstance(found, (list, tuple)) and len(found) == len(right):
        return type(found)(map(_formed, found, right))
    if isinstance(right, dict) and isinstance(found, dict):
        return {key: _formed(value, right[key]) if key in right else value for key, value in found.items()}
    if isinstance(right, torch.Tensor):
        return _as_tensor(found, right)
    if isinstance(right, (bool, int, float)):
        return _as_number(found, type(right))
    return found


def _as_tensor(found: Any, right: torch.Tensor) -> Any:
    """`found` in the dtype of `right`; as it is where that would change more than its rounding."""
    if right.ndim == 0 and not isinstance(found, torch.Tensor) and (number := _number(found)) is not None:
        found = torch.tensor(number, dtype=torch.float64)
    if not isinstance(found, torch.Tensor) or found.is_complex():
        return found
    made = found.to(right.dtype)
    return made if right.is_floating_point() or torch.equal(made.double(), found.double()) else found


def _as_number(found: Any, kind: type[bool] | type[int] | type[float]) -> Any:
    """`found` as a plain bool, int or float; as it is where that would be another number."""
    number = _number(found)
    whole = number is not None and float(number).is_integer()
    if number is None or (kind is not float and not whole):
        return found
    return kind(number) if kind is not bool or number in (0, 1) else found


def _number(found: Any) -> bool | int | float | None:
    """The number that a plain value, a tensor of no dimension or one of numpy's is; None for anything else."""
    if isinstance(found, torch.Tensor) and found.ndim == 0 and not found.is_complex():
        found = found.item()
    elif isinstance(found, Node):
        found = found.fields.get("value")
    return found if isinstance(found, (bool, int, float)) else None
