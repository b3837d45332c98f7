"""Run a file with answers: a Python file, or a notebook cell by cell, without Jupyter.

A notebook's figures (cells tagged `demo`), its cells that only check, and IPython's magics are left out: no answer
depends on them. Does not cover: the lesson of the answers, and their check (`cli`).
"""

from __future__ import annotations

import linecache
import sys
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import CodeType
from typing import Any

from .harness.errors import is_theirs
from .notebook.saved_notebook import IPYTHON_LINE, NotFound, cell_start, python_of, read, source
from .notebook.session import current, renew

NOTEBOOK = ".ipynb"


class UnusableFile(Exception):
    """A file has no answers to check; the message says why and what to do."""


def run_file(path: Path) -> tuple[dict[str, Any], bool]:
    """Run a file in a new session; return its names and whether all of it ran.

    An error ends a Python file, or the cell of a notebook: the cells below it run all the same. Raises UnusableFile.
    """
    parts = list(_cells(path)) if path.suffix == NOTEBOOK else [(str(path), _compiled(path), "")]
    renew()
    names: dict[str, Any] = {"__name__": path.stem, "__file__": str(path)}
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)
    try:
        whole = [_runs(place, code, names, given) for place, code, given in parts]
    finally:
        sys.path.remove(folder)
    return names, all(whole)


def _runs(place: str, code: CodeType | SyntaxError, names: dict[str, Any], text: str) -> bool:
    """Run a part of a file, and report an error that ends it. Returns whether there was none.

    text  of a cell, which may be the lesson's own
    """
    if isinstance(code, SyntaxError):
        print(f"{place}, line {code.lineno}: Python cannot read the cell: {code.msg}.", file=sys.stderr)
        return False
    current().stand_ins.enter_cell(text)
    try:
        exec(code, names)  # noqa: S102 - the user's own code, run as by `python my_answers.py`
    except (Exception, SystemExit) as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if is_theirs(frame.filename)]
        where = f", line {lines[-1]}" if lines else ""
        rest = "The lines below it did not run." if place == names["__file__"] else "The rest of the cell did not run."
        print(f"{place}{where}: {type(error).__name__}: {error}. {rest}", file=sys.stderr)
        return False
    finally:
        current().stand_ins.leave_cell()
    return True


def _compiled(path: Path) -> CodeType:
    try:
        return compile(path.read_bytes(), str(path.resolve()), "exec", dont_inherit=True)
    except OSError as error:
        raise UnusableFile(f"{path} cannot be read: {error.strerror}.") from None
    except (SyntaxError, ValueError) as error:
        line = f", line {error.lineno}" if isinstance(error, SyntaxError) else ""
        raise UnusableFile(f"{path}{line}: Python cannot read the file: {getattr(error, 'msg', error)}.") from None


def _cells(path: Path) -> Iterator[tuple[str, CodeType | SyntaxError, str]]:
    """Where each cell is, for a message, its code and its text. Raises UnusableFile."""
    try:
        cells = read(path)["cells"]
    except NotFound as error:
        raise UnusableFile(str(error)) from None
    for number, cell in enumerate(cells):
        if cell.get("cell_type") == "code" and not _is_left_out(cell["metadata"]):
            text = python_of(source(cell))
            yield f"{path}, {cell_start(cell)}", _compiled_cell(text, f"{path.resolve()}[{number}]"), text


def _is_left_out(metadata: Mapping[str, Any]) -> bool:
    """Whether a cell shows a figure, or only checks an answer."""
    marks = metadata.get("nbgrader")
    only_checks = isinstance(marks, dict) and bool(marks.get("grade")) and not marks.get("solution")
    return only_checks or "demo" in (metadata.get("tags") or ())


def _compiled_cell(text: str, name: str) -> CodeType | SyntaxError:
    """Compile a cell, without IPython's lines if it is no Python with them. Its lines can be quoted by `name`."""
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    found = SyntaxError("")
    for code in (text, IPYTHON_LINE.sub(r"\1pass", text)):
        try:
            return compile(code, name, "exec", dont_inherit=True)
        except SyntaxError as error:
            found = error
        except ValueError as error:  # such as a null byte
            found = SyntaxError(str(error))
    return found
