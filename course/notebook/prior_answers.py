"""Answers from earlier lessons, in this notebook or in others next to it.

Only the imports, functions and classes of another notebook run, so that nothing is trained, drawn or checked.

The model built from these answers is in `course/notebook/staged_model.py`.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from torch import nn

from ..check_data import CaseResults, case_of
from . import catalog, hand_in
from .answer_or_fallback import AnswerOrFallback
from .check_run import CheckRun
from .session import Session, current
from .versions import source

DEFINES = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)


class PriorAnswer(AnswerOrFallback):
    """The learner's function from an earlier lesson, or the course's instead."""

    def __init__(self, session: Session, lesson: str, name: str, mine: Any, otherwise: Callable[..., Any]) -> None:
        super().__init__(session, mine, otherwise, mine is not None)
        self.lesson, self.__name__ = lesson, name

    @property
    def whose(self) -> str:
        """Its origin, for a caption."""
        written = f"your {self.__name__} from lesson {int(self.lesson[:2])}"
        return written if self.passes else f"{self.shown_fallback()} (until {written} passes)"


def find_prior_answer(name: str, otherwise: Callable[..., Any]) -> PriorAnswer:
    """Return the learner's answer to an exercise if it passes, else `otherwise`.

    Searches this notebook, then the saved notebooks of the exercise's lesson. Raises LookupError for an unknown
    exercise.
    """
    lesson = next((known for known in catalog.known_lessons() if name in catalog.known_exercises(known)), "")
    if not lesson:
        raise LookupError(f"no lesson has an exercise called {name!r}")
    session = current()
    found = (
        names for names in (session.names, *map(run_definitions, notebooks_of(lesson))) if callable(names.get(name))
    )
    passing = next((names[name] for names in found if _passes(lesson, name, names)), None)
    return PriorAnswer(session, lesson, name, passing, otherwise)


def notebooks_of(lesson: str) -> list[Path]:
    """Return the notebooks of a lesson, newest first.

    Searches this folder, the lesson's folder and `hand_in`.
    """
    places = (Path(), Path("..", lesson), Path(hand_in.FOLDER))
    found = [path for place in places for path in place.glob(f"*{lesson}*.ipynb")]
    return sorted(found, key=lambda path: path.stat().st_mtime, reverse=True)


def run_definitions(path: Path) -> dict[str, Any]:
    """Run a notebook's definitions and return its names; skip definitions that fail."""
    names: dict[str, Any] = {"__name__": path.stem, "torch": torch, "nn": nn, "F": nn.functional, "math": math}
    for statement in _statements(path):
        with suppress(Exception):
            code = compile(ast.Module([statement], []), str(path), "exec", dont_inherit=True)
            exec(code, names)  # noqa: S102 - the learner's own code
    return names


def _statements(path: Path) -> Iterator[ast.stmt]:
    try:
        cells = hand_in.read(path)["cells"]
    except hand_in.NotFound:
        return
    for cell in cells:
        if cell.get("cell_type") == "code" and "demo" not in cell["metadata"].get("tags", []):
            with suppress(SyntaxError, ValueError):
                tree = ast.parse(source(cell))
                yield from (statement for statement in tree.body if isinstance(statement, DEFINES))


def _passes(lesson: str, name: str, names: dict[str, Any]) -> bool:
    """Whether the exercise's visible examples pass with these names."""
    asked = CaseResults(CheckRun().run_case)
    asked.run_cases([case_of(record) for record in catalog.known_exercises(lesson)[name]["cases"]], names)
    return asked.right
