"""A warning if the checked function is not the learner's latest version.

A cell that fails leaves the earlier function in place; IPython's history shows it.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import re
import warnings
from typing import Any

from ...report import shell
from ..saved_notebook import recent_cells


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
