"""Explanations of arguments of `check` that are not the function of an exercise."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from ..saved_notebook import recent_cells

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
            f"`{name}` is now {kind}, not a function: another cell has assigned to its name. Use another name there, "
            f"and run the cell with your `{name}` again."
        )
    called = re.search(r"\bcheck\(\s*(\w+)\s*\(", next(iter(recent_cells()), ""))
    if not callable(f) and called and called[1] in exercises:
        meant = called[1]
        return (
            meant,
            f"`check` got the result of `{meant}`, {kind}, but it calls the function itself. Write `check({meant})`.",
        )
    if not callable(f) and not isinstance(f, str):
        return (
            name,
            f"`check` expected a function, as in `check({next(iter(exercises), 'softmax')})`, but got {kind}.",
        )
    near = closest_name(name, exercises)
    if near:
        return (
            near,
            f"There is no exercise `{name}`. If you mean `{near}`, rename it, and run both cells again.",
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
                f"You have defined `{name}`, but the exercise is called `{exercise}`. Rename it, and run both cells "
                "again."
            )
    return ""
