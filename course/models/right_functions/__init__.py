"""Right functions for the exercises, one module per lesson; `__all__` has the exercises' names.

Each has its exercise's name and signature and meets the whole contract, mostly by PyTorch functions that the exercise
forbids. The lesson's own cells, and `check` and the staged model, use them in place of answers that do not pass
(`course.notebook.stand_ins`). An answer that calls one earns nothing (`course.harness.forbidden_calls`).

Does not cover: steps, whose right answers are data of the lesson.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Any

import torch


def right_function(lesson: str, name: str) -> Callable[..., Any] | None:
    """The right function for an exercise of a lesson such as "02_softmax"; None if the package has none."""
    module = f"{__name__}.lesson_{lesson[:2]}"
    if not find_spec(module):
        return None
    found = import_module(module)
    return getattr(found, name) if name in found.__all__ else None


def before(lesson: str) -> dict[str, Callable[..., Any]]:
    """The right functions for all exercises of earlier lessons; of two with one name, the later lesson's."""
    found: dict[str, Callable[..., Any]] = {}
    for module in sorted(one.name for one in iter_modules(__path__) if one.name < f"lesson_{lesson[:2]}"):
        made = import_module(f"{__name__}.{module}")
        found |= {name: getattr(made, name) for name in made.__all__}
    return found


def announce() -> None:
    """Call PyTorch from a function that otherwise does not, so that the watch for ready-made answers sees it."""
    torch.empty(0)
