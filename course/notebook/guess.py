"""A guess at a prediction or the finding of an experiment: read leniently, and compared with the answer.

A prediction is data from the catalog, with a `kind`: "choice", "number", "list" (a shape or a tensor) or "code" (one
line, which is evaluated among the learner's names and compared by its value).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import torch

from ..harness import time_limits

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


def is_close(one: Nested, other: Nested, *, tolerance: float) -> bool:
    """Whether two numbers or lists are equal within `tolerance`, and within rounding."""
    if isinstance(one, list) or isinstance(other, list):
        both = isinstance(one, list) and isinstance(other, list) and len(one) == len(other)
        return both and all(is_close(a, b, tolerance=tolerance) for a, b in zip(one, other, strict=True))  # type: ignore[arg-type]
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
        return is_close(as_number(one), as_number(other), tolerance=0.0)
    except Unreadable:
        return not isinstance(one, torch.Tensor) and not isinstance(other, torch.Tensor) and bool(one == other)


def shorten(value: Any) -> str:
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


Names = Mapping[str, Any]


@dataclass(frozen=True)
class JudgedGuess:
    """A guess as text, whether it is right, and the author's sentence about a wrong one."""

    text: str
    right: bool
    why_wrong: str = ""


def judge(known: Mapping[str, Any], guess: Any, names: Names) -> JudgedGuess:
    """Compare a guess with the answer. Raises Unreadable with the reason if it cannot be one."""
    kind, text = known["kind"], shorten(guess)
    if kind == "choice":
        chosen = next((choice for choice in known["choices"] if as_text(choice) == as_text(guess)), None)
        if chosen is None:
            raise Unreadable(f"`{text}` is not one of the answers.")
        text = chosen
    elif kind in ("number", "list"):
        _read(known, guess, text)
    else:
        _evaluated(guess, names)
    right = _equal(known, guess, known["answer"], names)
    wrong = known.get("wrong", {})
    named = next((said for one, said in wrong.items() if one != "other" and _equal(known, guess, one, names)), "")
    return JudgedGuess(text, right, "" if right else named or wrong.get("other", ""))


def describe_guess(known: Mapping[str, Any]) -> str:
    """Describe a valid guess in words."""
    if known["kind"] == "choice":
        *others, last = [f'"{choice}"' for choice in known["choices"]]
        return f"{', '.join(others)} or {last}" if others else last
    if known["kind"] == "number":
        return "a number"
    if known["kind"] == "code":
        return "one line of code, between quotation marks"
    whole = all(isinstance(entry, int) for entry in known["answer"])
    return "whole numbers, such as (2, 3)" if whole else "a list of numbers, such as [0.5, 1]"


def answer_in_words(known: Mapping[str, Any]) -> str:
    """Write the answer as a learner would."""
    answer = known["answer"]
    if known["kind"] == "list":
        whole = all(isinstance(entry, int) for entry in answer)
        return str(tuple(answer)) if whole else str(answer)
    return f"{answer:g}" if isinstance(answer, float) else str(answer)


def _equal(known: Mapping[str, Any], guess: Any, other: Any, names: Names) -> bool:
    """Whether a guess means the same as the answer, or as a wrong answer that the author describes."""
    try:
        if known["kind"] == "choice":
            return as_text(guess) == as_text(other)
        if known["kind"] == "code":
            same_text = isinstance(guess, str) and guess.split() == str(other).split()
            return same_text or same_value(_evaluated(guess, names), _evaluated(other, names))
        read = as_number if known["kind"] == "number" else as_nested
        return is_close(read(guess), read(other), tolerance=float(known.get("tolerance", 0.0)))
    except Unreadable:
        return False


def _read(known: Mapping[str, Any], guess: Any, text: str) -> None:
    try:
        as_number(guess) if known["kind"] == "number" else as_nested(guess)
    except Unreadable:
        raise Unreadable(f"Expected {describe_guess(known)}, got `{text}`.") from None


def _evaluated(code: Any, names: Names) -> Any:
    """The value of a line of code among these names; another value is returned as it is. Raises Unreadable."""
    if not isinstance(code, str):
        return code
    try:
        with time_limits.limit(time_limits.CALL):
            return eval(code.strip(), dict(names))  # noqa: S307 - the learner's own line, in the learner's notebook
    except (Exception, time_limits.CallTimeout) as error:
        raise Unreadable(f"`{code}` raises {type(error).__name__}: {error}") from None
