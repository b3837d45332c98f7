"""Judges one observation against its reference: the one judgement that grade and `check` share.

Does not cover: how numbers are compared (`comparing.py`), what has no single right value (`course.checkers`), how a
reference comes about (whoever has the oracle).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from .coercion import coerce_types
from .compare import Finding, Reference, compare, wrong_device
from .device_check import check_device
from .errors import in_words
from .program import Observation


def judge(seen: Observation, reference: Reference, device: str = "cpu") -> Finding | None:
    """What is wrong with one observation.

    What is read of a result as if it were of the right form may raise where it is not, and that is the result's fault;
    raises what the judging of the oracle's own outcome raises, which is ours.
    """
    try:
        return _judged(seen, reference, device)
    except Exception:
        _judged(reference.native, reference, "cpu")
        return Finding("values", "the result is not of the form that the contract asks for")


def formed(seen: Observation, reference: Reference) -> Observation:
    """What was seen, in a right answer's form where form is not judged; where inputs had no numbers, what stands in a
    result is nobody's."""
    if reference.elsewhere:
        return replace(seen, values=_without_numbers(seen.values))
    return seen if reference.form else coerce_types(seen, reference.native)


def _without_numbers(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return torch.zeros_like(value)
    if isinstance(value, (list, tuple)):
        return type(value)(map(_without_numbers, value))
    return {key: _without_numbers(item) for key, item in value.items()} if isinstance(value, dict) else value


def _judged(seen: Observation, reference: Reference, device: str) -> Finding | None:
    if reference.elsewhere:
        return check_device(seen, reference.parts)
    if reference.accepts:
        refused = seen.raised is not None and "ValueError" in seen.raised["bases"]
        return Finding("raised", f"these arguments are right: {in_words(seen.raised or {})}") if refused else None
    if reference.holds is None or (seen.raised is not None and reference.exact.raised is None):
        return compare(seen, reference, device)
    if elsewhere := wrong_device(seen, device):
        return elsewhere
    problem = reference.holds(formed(seen, reference), reference.exact)
    return Finding("values", problem) if isinstance(problem, str) and problem else problem or None
