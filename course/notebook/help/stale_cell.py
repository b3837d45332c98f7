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
from ..ipython_history import recent_cells


def stale_cell_warning(name: str, f: Any) -> str:
    """Warn if `f` is not the latest answer to `name`; empty if it is."""
    written = next((cell for cell in recent_cells() if _defines(cell, name)), None)
    if written is None:
        return ""
    readable = shell().transform_cell(written)
    if wrong := _syntax_problem(readable, len(written) - len(written.lstrip("\n"))):
        return f"The cell with `{name}` did not run: {wrong}. Mend it and run it again; {_what_was_checked(f)}."
    if _is_placeholder(f) or _source(f, name) not in ("", readable.strip()):
        return (
            f"The last cell with `{name}` failed before it came to it. Run it again and read its error; "
            f"{_what_was_checked(f)}."
        )
    return ""


def _what_was_checked(f: Any) -> str:
    return "nothing was there to be judged" if _is_placeholder(f) else "what is judged here is what was there before"


def _is_placeholder(f: Any) -> bool:
    return str(getattr(f, "__module__", "")).startswith("course.")


def _defines(cell: str, name: str) -> bool:
    return bool(re.search(rf"^(?:async\s+)?(?:def|class)\s+{name}\b", cell, re.MULTILINE))


def _syntax_problem(code: str, before: int) -> str:
    """Why Python cannot read code after this many removed blank lines; empty: it can."""
    try:
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
