"""Whether what is checked is what the learner wrote last: a cell that Python could not read, or that failed on its way,
leaves the function that was there before. Known from IPython's history of the cells that ran."""

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
    """What to know before one reads a report on `f`, which answers the exercise `name`; empty: nothing."""
    written = next((cell for cell in recent_cells() if _defines(cell, name)), None)
    if written is None:
        return ""
    readable = shell().transform_cell(written)
    if wrong := _unreadable(readable, len(written) - len(written.lstrip("\n"))):
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


def _unreadable(code: str, before: int) -> str:
    """Why Python cannot read the code, of whose cell IPython left out so many empty lines; empty: it can."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(code, "<cell>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except SyntaxError as error:
        return f"Python cannot read its line {before + (error.lineno or 0)} ({error.msg})"
    except ValueError as error:  # a null character
        return f"Python cannot read it ({error})"
    return ""


def _source(f: Any, name: str) -> str:
    """The cell in which `f` was defined under this name; empty where that cannot be told."""
    try:
        found = inspect.unwrap(f)
        parts = vars(found).values() if inspect.isclass(found) else [found]
        code = next(part.__code__ for part in parts if hasattr(part, "__code__"))
        own = getattr(found, "__name__", "") == name and name in code.co_qualname
    except Exception:  # of an object that answers anything to anything
        return ""
    return "".join(linecache.getlines(code.co_filename)).strip() if own else ""
