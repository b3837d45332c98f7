"""Explanations of arguments of `check` that are not the function of an exercise."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from ..ipython_history import recent_cells

NEAR = 0.75  # required similarity of two names, at most 1


def explain_misuse(f: Any, name: str, names: Mapping[str, Any], exercises: Iterable[str]) -> tuple[str, str]:
    """Return the exercise that was meant (or `name`), and the problem with `f` or "".

    `name` is the exercise that `f` is bound to, or its own name; `names` are the learner's.
    """
    kind = f"{'an' if type(f).__name__[:1] in 'aeiou' else 'a'} `{type(f).__name__}`"
    if name in exercises:
        if callable(f):
            return name, ""
        return name, (
            f"`{name}` is {kind} now, and no function: a cell has given its name to something else. Take another name "
            f"there, and run the cell with your `{name}` again."
        )
    called = re.search(r"\bcheck\(\s*(\w+)\s*\(", next(iter(recent_cells()), ""))
    if not callable(f) and called and called[1] in exercises:
        meant = called[1]
        return meant, f"This is what `{meant}` returned, {kind}. `check` calls it by itself: write `check({meant})`."
    if not callable(f) and not isinstance(f, str):
        return (
            name,
            f"`check` takes the function itself, as in `check({next(iter(exercises), 'softmax')})`, and got {kind}.",
        )
    near = closest_name(name, exercises)
    if near:
        return (
            near,
            f"`{name}` is no exercise. Is it meant to be `{near}`? The name decides: change it, and run both cells.",
        )
    return name, ""


def closest_name(name: str, exercises: Iterable[str]) -> str:
    """The exercise with a similar name; empty if there is none."""
    lower = {exercise.lower(): exercise for exercise in exercises}
    return lower[found[0]] if (found := get_close_matches(name.lower(), lower, 1, NEAR)) else ""


def suggest_rename(exercise: str, names: Mapping[str, Any], exercises: Iterable[str]) -> str:
    """Suggest renaming a function whose name resembles `exercise`; empty: none does."""
    known = set(exercises)
    for name, value in names.items():
        theirs = callable(value) and getattr(value, "__module__", "") == names.get("__name__")
        if theirs and name not in known and closest_name(name, [exercise]):
            return (
                f"There is a `{name}`: is it meant to be `{exercise}`? Then change its name, and run both cells again."
            )
    return ""
