"""Values that a learner gives as a guess or a finding, read leniently: numbers, lists, text."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import torch

LONGEST = 120  # characters of a value that is shown
Nested = float | list["Nested"]


class Unreadable(ValueError):
    """A value is not of the expected kind."""


def as_number(value: Any) -> float:
    """Read a number, a tensor or array with one entry, or a text such as "0.5" or "1/2". Raises Unreadable."""
    try:
        if isinstance(value, str):
            text = value.strip().replace("−", "-")
            return float(Fraction(text)) if "/" in text else float(text)
        if isinstance(value, (Sequence, bool)):
            raise Unreadable
        return float(value.item() if hasattr(value, "item") else value)  # `item` raises for several entries
    except (TypeError, ValueError, ArithmeticError, RuntimeError):
        raise Unreadable from None


def as_nested(value: Any) -> Nested:
    """Read a list of numbers with any depth: a shape, a tensor, a list, or a text such as "(4, 6)". Raises Unreadable.

    A single number counts as a list with one entry, since `(6)` is not a tuple.
    """
    if isinstance(value, str):
        text = re.sub(r"^(torch\.)?(Size|tensor)\((.*)\)$", r"\3", value.strip().replace("−", "-"), flags=re.DOTALL)
        try:
            value = ast.literal_eval(re.sub(r"[×x]", ",", text))
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            raise Unreadable from None
    nested = _numbers(value.tolist() if hasattr(value, "tolist") else value)
    return nested if isinstance(nested, list) else [nested]


def _numbers(value: Any) -> Nested:
    if isinstance(value, (list, tuple)):
        return [_numbers(item) for item in value]
    return float(value) if isinstance(value, (bool, int, float)) else as_number(value)


def as_text(value: Any) -> str:
    """The words of a text, a bool or a number, to be compared without regard to case, spaces and quotes."""
    return " ".join(str(value).strip().strip("\"'“”.").casefold().split())


def close(one: Nested, other: Nested, *, tolerance: float) -> bool:
    """Whether two numbers or lists are equal within `tolerance`, and within rounding."""
    if isinstance(one, list) or isinstance(other, list):
        both = isinstance(one, list) and isinstance(other, list) and len(one) == len(other)
        return both and all(close(a, b, tolerance=tolerance) for a, b in zip(one, other, strict=True))  # type: ignore[arg-type]
    if one != one or other != other:  # NaN
        return one != one and other != other
    return one == other or abs(one - other) <= tolerance + 1e-6 * abs(other)


def same_value(one: Any, other: Any) -> bool:
    """Whether two values of any kind are equal; tensors within float32's rounding."""
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        if one.shape != other.shape or one.is_floating_point() != other.is_floating_point():
            return False
        return torch.allclose(one.double(), other.double(), rtol=1e-4, atol=1e-6, equal_nan=True)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(same_value, one, other))
    try:
        return close(as_number(one), as_number(other), tolerance=0.0)
    except Unreadable:
        return not isinstance(one, torch.Tensor) and not isinstance(other, torch.Tensor) and bool(one == other)


def in_short(value: Any) -> str:
    """A value as a learner would write it, cut where it is long."""
    if isinstance(value, torch.Size):
        text = str(tuple(value))
    elif isinstance(value, torch.Tensor) and value.ndim == 0:
        text = f"{value.item():.4g}" if value.is_floating_point() else str(value.item())
    elif isinstance(value, float) and len(repr(value)) > 8:
        text = f"{value:.4g}"
    elif isinstance(value, torch.Tensor):
        text = re.sub(r"\s+", " ", repr(value.detach()))
    else:
        text = value if isinstance(value, str) else re.sub(r"\s+", " ", repr(value))
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
