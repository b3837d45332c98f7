"""Check of one observation against its reference, for the grade and for `check`.

Does not cover: comparison of numbers (`compare.py`), results with no single right value (`course.checkers`), making
references (the caller has the oracle).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from . import messages
from .coercion import coerce_types
from .compare import Reference, changed_argument, compare, wrong_device
from .device_check import check_device
from .messages import Finding
from .program import Observation


def check_case(seen: Observation, reference: Reference, device: str = "cpu") -> Finding | None:
    """What is wrong with one observation, or None.

    If checking raises, the result has the wrong form, unless checking the oracle's own outcome raises too: that is a
    bug of ours and propagates.
    """
    try:
        return _checked(seen, reference, device)
    except Exception:
        _checked(reference.native, reference, "cpu")
        return messages.wrong_form()


def coerced(seen: Observation, reference: Reference) -> Observation:
    """The observation, with a correct answer's types unless types are checked.

    If only the device is checked, its numbers are set to 0, since the inputs had none.
    """
    if reference.options.device_only:
        return replace(seen, values=_without_numbers(seen.values))
    return seen if reference.options.check_types else coerce_types(seen, reference.native)


def _without_numbers(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return torch.zeros_like(value)
    if isinstance(value, (list, tuple)):
        return type(value)(map(_without_numbers, value))
    return {key: _without_numbers(item) for key, item in value.items()} if isinstance(value, dict) else value


def _checked(seen: Observation, reference: Reference, device: str) -> Finding | None:
    options = reference.options
    if options.device_only:
        return check_device(seen, reference.result_names)
    if options.does_not_raise:
        refused = seen.raised is not None and "ValueError" in seen.raised["bases"]
        return messages.valid_arguments_refused(seen.raised or {}) if refused else None
    if options.check_with is None or (seen.raised is not None and reference.exact.raised is None):
        return compare(seen, reference, device)
    if elsewhere := wrong_device(seen, device):
        return elsewhere
    problem = options.check_with(coerced(seen, reference), reference.exact)
    finding = Finding("values", problem) if isinstance(problem, str) and problem else problem or None
    return finding or changed_argument(seen, reference)
