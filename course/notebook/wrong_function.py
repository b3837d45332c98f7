"""What is wrong with the function that `check` got: not an exercise's, renamed, or not the latest version.

A cell that fails leaves the earlier function in place; IPython's history shows it.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import re
import warnings
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from ..report import shell
from .saved_notebook import recent_cells


def stale_cell_warning(name: str, f: Any) -> str:
    """Warn if `f` is not the latest answer to `name`; empty if it is."""
    written = _latest_cell(name)
    if not written:
        return ""
    if wrong := _syntax_problem(written):
        return f"The cell with `{name}` did not run: {wrong}. Fix it and run it again. {_what_was_checked(f)}"
    if _is_placeholder(f) or _source(f, name) not in ("", shell().transform_cell(written).strip()):
        return (
            f"The last cell with `{name}` stopped with an error before it defined `{name}`. Run it again and read the "
            f"error. {_what_was_checked(f)}"
        )
    return ""


def is_unreadable(name: str) -> bool:
    """Whether Python cannot read the latest answer to `name`."""
    return bool(_syntax_problem(_latest_cell(name)))


def _latest_cell(name: str) -> str:
    """The last cell that ran and defines `name`, or ""."""
    return next((cell for cell in recent_cells() if _defines(cell, name)), "")


def _what_was_checked(f: Any) -> str:
    return "Nothing was checked." if _is_placeholder(f) else "This check is of your previous version."


def _is_placeholder(f: Any) -> bool:
    return str(getattr(f, "__module__", "")).startswith("course.")


def _defines(cell: str, name: str) -> bool:
    return bool(re.search(rf"^(?:async\s+)?(?:def|class)\s+{name}\b", cell, re.MULTILINE))


def _syntax_problem(cell: str) -> str:
    """Why Python cannot read a cell; empty: it can."""
    before = len(cell) - len(cell.lstrip("\n"))  # blank lines, which IPython removes
    try:
        code = shell().transform_cell(cell) if cell else ""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(code, "<cell>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except SyntaxError as error:
        return f"Python cannot read its line {before + (error.lineno or 0)} ({error.msg})"
    except ValueError as error:  # for a null character
        return f"Python cannot read it ({error})"
    return ""


def _source(f: Any, name: str) -> str:
    """The cell that defined `f` under this name; empty if unknown."""
    try:
        found = inspect.unwrap(f)
        parts = vars(found).values() if inspect.isclass(found) else [found]
        code = next(part.__code__ for part in parts if hasattr(part, "__code__"))
        own = getattr(found, "__name__", "") == name and name in code.co_qualname
    except Exception:  # an object may answer any attribute
        return ""
    return "".join(linecache.getlines(code.co_filename)).strip() if own else ""


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
