"""Which known mistake explains what was seen: the one whose outcomes on the same cases cannot be told apart from it."""

from __future__ import annotations

import math
import re
from typing import Any

import torch

from .packing import Node
from .program import Observation
from .tolerance import Tolerance

Likeness = dict[tuple[str, int, bool], bool]


def explain(
    seen: list[Observation], failing: list[int], outcomes: dict[str, list[Observation]], known: Likeness | None = None
) -> str | None:
    """The one known mistake that gives what was seen wherever it was wrong; None if none does, or several do.

    seen      observations of all cases; failing: indices of those that were wrong
    outcomes  mistake -> what it gives on the same cases
    known     what was found when the same `seen` was explained before, for other failing cases; is added to
    """
    known = {} if known is None else known

    def same(mistake: str, i: int, own_words: bool) -> bool:
        key = mistake, i, own_words
        if key not in known:
            known[key] = same_outcome(seen[i], outcomes[mistake][i], own_words=own_words)
        return known[key]

    fitting = [m for m in outcomes if all(same(m, i, False) for i in failing)]
    fitting = fitting or [m for m in outcomes if all(same(m, i, True) for i in failing)]
    if len(fitting) > 1:  # told apart, if at all, by the cases that were right
        agree = {m: sum(same(m, i, own) for own in (False, True) for i in range(len(seen))) for m in fitting}
        best = max(agree.values())
        fitting = [m for m in fitting if agree[m] == best]
    return fitting[0] if failing and len(fitting) == 1 else None


def same_outcome(seen: Observation, other: Observation, *, own_words: bool = False) -> bool:
    """Whether two observations cannot be told apart: NaN equals NaN here, and errors match by type and message.

    own_words: the message does not matter where a line of the learner's raises the error
    """
    if (seen.raised is None) != (other.raised is None):
        return False
    if seen.raised is not None and other.raised is not None:
        if own_words and re.search(rf"\braise {re.escape(seen.raised['type'])}\b|\bassert\b", seen.raised["line"]):
            return bool(seen.raised["type"] == other.raised["type"])
        return all(seen.raised[key] == other.raised[key] for key in ("type", "message"))
    if (seen.gradients is None) != (other.gradients is None) or seen.changed.keys() != other.changed.keys():
        return False
    return _same(list(seen.values.values()), list(other.values.values())) and _same(seen.gradients, other.gradients)


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        if not a.is_floating_point():
            return torch.equal(a, b)
        size = b.double().abs().nan_to_num(0.0, 0.0, 0.0)
        largest = float(size.max()) if size.numel() else 0.0
        room = Tolerance.of(a.dtype)
        return torch.allclose(a.double(), b.double(), rtol=room.rtol, atol=room.atol * largest, equal_nan=True)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(a[k], b[k]) for k in a)
    if isinstance(a, Node) and isinstance(b, Node):
        if a.kind == b.kind == "module":  # a mistake's class has a name of its own
            return _same(a.fields.get("training"), b.fields.get("training"))
        return a.kind == b.kind and _same(a.fields, b.fields)
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-6) or (a != a and b != b)
    return type(a) is type(b) and bool(a == b)
