"""Conversion of a result to the expected dtype and number type.

An exercise may check dtype and type in a criterion of its own. Everywhere else a result is converted before it is
compared, if only the conversion is needed: plain numbers, numpy's and 0-d tensors are equal, and 1 and 0 are booleans.

Does not cover: shapes and structure, which are never converted; whether values are right (`course.harness.compare`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from .program import Observation
from .serialization import Node


def coerce_types(seen: Observation, native: Observation) -> Observation:
    """Convert results that differ from `native` only in dtype or number type."""
    right = native.values
    return replace(seen, values={n: _coerced(v, right[n]) if n in right else v for n, v in seen.values.items()})


def _coerced(found: Any, right: Any) -> Any:
    if isinstance(right, (list, tuple)) and isinstance(found, (list, tuple)) and len(found) == len(right):
        return type(found)(map(_coerced, found, right))
    if isinstance(right, dict) and isinstance(found, dict):
        return {key: _coerced(value, right[key]) if key in right else value for key, value in found.items()}
    if isinstance(right, torch.Tensor):
        return _as_tensor(found, right)
    if isinstance(right, (bool, int, float)):
        return _as_number(found, type(right))
    return found


def _as_tensor(found: Any, right: torch.Tensor) -> Any:
    """Convert `found` to the dtype of `right`, unless that changes more than rounding."""
    if right.ndim == 0 and not isinstance(found, torch.Tensor) and (number := _number(found)) is not None:
        found = torch.tensor(number, dtype=torch.float64)
    if not isinstance(found, torch.Tensor) or found.is_complex():
        return found
    converted = found.to(right.dtype)
    return converted if right.is_floating_point() or torch.equal(converted.double(), found.double()) else found


def _as_number(found: Any, kind: type[bool] | type[int] | type[float]) -> Any:
    """Convert `found` to a bool, int or float, unless that changes its value."""
    number = _number(found)
    whole = number is not None and float(number).is_integer()
    if number is None or (kind is not float and not whole):
        return found
    return kind(number) if kind is not bool or number in (0, 1) else found


def _number(found: Any) -> bool | int | float | None:
    """The value of a number, a 0-d tensor or a numpy number; None for anything else."""
    if isinstance(found, torch.Tensor) and found.ndim == 0 and not found.is_complex():
        found = found.item()
    elif isinstance(found, Node):
        found = found.fields.get("value")
    return found if isinstance(found, (bool, int, float)) else None
