"""Answers from earlier lessons, in this notebook or in others next to it.

Only the imports, functions and classes of another notebook run, so that nothing is trained, drawn or checked.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from ..cell_kinds import is_left_out
from ..check_data import CaseResults, case_of
from . import catalog
from .check_run import CheckRun
from .saved_notebook import FOLDER, NotFound, read, source

if TYPE_CHECKING:
    from .session import Session

DEFINES = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)


def find_prior_answer(session: Session, lesson: str, name: str) -> Any:
    """Return the learner's answer to an exercise of an earlier lesson; None if none passes its visible examples.

    Searches this notebook, then the saved notebooks of that lesson.
    """
    return next((answer for answer, _ in _prior_answers(session, lesson, name)), None)


def notebook_of_prior_answer(session: Session, lesson: str, name: str) -> Path | None:
    """Return the saved notebook with the answer of `find_prior_answer`; None if it is in this one, or there is none."""
    return next((path for _, path in _prior_answers(session, lesson, name)), None)


def _prior_answers(session: Session, lesson: str, name: str) -> Iterator[tuple[Any, Path | None]]:
    saved = ((_definitions(path, path.stat().st_mtime_ns), path) for path in notebooks_of(lesson))
    for names, path in chain([(session.names, None)], saved):
        if callable(names.get(name)) and _passes(lesson, name, names):
            yield names[name], path


def notebooks_of(lesson: str) -> list[Path]:
    """Return the notebooks of a lesson, newest first.

    Searches this folder, the lesson's folder and `hand_in`.
    """
    places = (Path(), Path("..", lesson), Path(FOLDER))
    found = [path.resolve() for place in places for path in place.glob(f"*{lesson}*.ipynb")]
    return sorted(found, key=lambda path: path.stat().st_mtime, reverse=True)


@lru_cache(maxsize=16)
def _definitions(path: Path, _: int) -> dict[str, Any]:
    """Run a notebook's definitions, once, and return its names; skip definitions that fail."""
    names: dict[str, Any] = {"__name__": path.stem, "torch": torch, "nn": nn, "F": nn.functional, "math": math}
    for statement in _statements(path):
        with suppress(Exception):
            code = compile(ast.Module([statement], []), str(path), "exec", dont_inherit=True)
            exec(code, names)  # noqa: S102 - the learner's own code
    return names


def _statements(path: Path) -> Iterator[ast.stmt]:
    try:
        cells = read(path)["cells"]
    except NotFound:
        return
    for cell in cells:
        if cell.get("cell_type") == "code" and not is_left_out(cell["metadata"], source(cell)):
            with suppress(SyntaxError, ValueError):
                tree = ast.parse(source(cell))
                yield from (statement for statement in tree.body if isinstance(statement, DEFINES))


def _passes(lesson: str, name: str, names: dict[str, Any]) -> bool:
    """Whether the exercise's visible examples pass with these names."""
    results = CaseResults(CheckRun().run_case)
    results.run_cases([case_of(record) for record in catalog.known_exercises(lesson)[name]["cases"]], names)
    return results.right
