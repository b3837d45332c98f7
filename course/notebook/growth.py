"""The learner's own text of a part from an earlier lesson, and the lines that this lesson adds to it.

Attention and the class round it grow from lesson 3 to lesson 8. A lesson shows the learner the part to start from and,
once the new part passes, that part with its new lines marked. Only the learner's own text is shown, never the course's:
an earlier lesson may not be due yet.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from contextlib import suppress
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from . import catalog
from .prior_answers import find_prior_answer, notebook_of_prior_answer
from .saved_notebook import NotFound, parse, python_of, read, source
from .session import Session, current

MISSING = (
    "Your `{name}` of lesson {number} is not beside this notebook, or does not pass yet.\n"
    "Open {lesson}.ipynb where you wrote it, and copy its cell."
)
LATER = "Once your `{name}` passes, run this cell: it shows your `{before}` with the new lines marked."
MARK, PLAIN = "+ ", "  "


def show(before: str, now: str = "") -> None:
    """Print the learner's answer to an exercise of an earlier lesson, or what another answer adds to it.

    before  an exercise of an earlier lesson
    now     an exercise of this lesson: its answer is printed once it passes, with a `+` before each new line
    """
    session = current()
    lesson = _lesson_of(before, session.lesson or "")
    old = _earlier_text(session, lesson, before)
    if now:
        with session.stand_ins.given():  # an answer that does not pass is not chosen
            new = _text_of(session.stand_ins.chosen(now))
        print(mark_new_lines(old, new) if new else LATER.format(name=now, before=before))
    else:
        print(old or MISSING.format(name=before, lesson=lesson, number=int(lesson[:2])))


def mark_new_lines(old: str, new: str) -> str:
    """The lines of `new` without its docstrings, with a mark before those that `old` does not have; all if it is ""."""
    before, after = ([line for line in _without_docstrings(text) if line.strip()] for text in (old, new))
    match = SequenceMatcher(None, [line.strip() for line in before], [line.strip() for line in after], autojunk=False)
    kept = {block.b + i for block in match.get_matching_blocks() for i in range(block.size)}
    return "\n".join(f"{PLAIN if i in kept else MARK}{line}" for i, line in enumerate(after))


def _lesson_of(name: str, current_lesson: str) -> str:
    """The last lesson before this one with such an exercise. Raises LookupError."""
    for lesson in reversed(catalog.known_lessons()):
        if lesson < current_lesson and name in catalog.known_exercises(lesson):
            return lesson
    raise LookupError(f"no lesson before {current_lesson} has an exercise {name!r}")


def _earlier_text(session: Session, lesson: str, name: str) -> str:
    """The text of the learner's answer that passes; "" if there is none."""
    if path := notebook_of_prior_answer(session, lesson, name):
        return next(_definitions(path, name), "")
    return _text_of(find_prior_answer(session, lesson, name))


def _definitions(path: Path, name: str) -> Iterator[str]:
    """The definitions of a function or class in a saved notebook, the last one first."""
    with suppress(NotFound):
        cells = [source(cell) for cell in read(path)["cells"] if cell.get("cell_type") == "code"]
        for text in reversed(cells):
            tree = parse(text)
            for node in reversed(tree.body if tree else []):
                if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
                    yield ast.get_source_segment(python_of(text), node) or ""


def _text_of(answer: Any) -> str:
    """The text of a function or class, as its cell has it; "" without one."""
    try:
        return inspect.getsource(answer).rstrip() if answer is not None else ""
    except (OSError, TypeError):
        return ""


def _without_docstrings(text: str) -> list[str]:
    """The lines of a definition without those of its docstrings."""
    lines = text.splitlines()
    with suppress(SyntaxError):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node, clean=False) is not None:
                first, last = node.body[0].lineno, node.body[0].end_lineno or 0
                lines[first - 1 : last] = [""] * (last - first + 1)
    return lines
