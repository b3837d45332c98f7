"""`solution`: correct answers in several styles, each with its pros and cons.

Those of exercises are in a separate file, `NN_lesson.solutions` (JSON), which a course may publish next to its
notebooks and in its wheel. It is not encrypted: unpublished solutions are simply not there. Published ones open once
the answer passes, or after all hints and several honest tries. The package has an answer to each step.
"""

from __future__ import annotations

import json
from typing import Any

from ..report import display_markdown
from . import catalog
from .session import Session, current

TRIES = 3  # different answers that were checked


def solution(f: Any) -> None:
    """Show correct answers to the exercise or step `f`, each with its pros and cons.

    They open once your answer passes, or after all hints and three different tries with `check`. Never raises.
    """
    session = current()
    name = session.name_of(f)
    try:
        lesson = session.lesson_of(name)
        answers = _published(lesson, name)
        missing = _still_missing(session, lesson, name)
    except (LookupError, OSError, ValueError) as error:
        print(error)
        return
    if missing:
        when = f"once your {name} passes, or after all hints and {TRIES} different tries with `check`"
        print(f"The solutions to {name} open {when}. {missing}")
        return
    shown = [f"**{i}.** {answer['comment']}\n\n```python\n{answer['code']}\n```" for i, answer in enumerate(answers, 1)]
    several = f"**{len(shown)} correct answers to `{name}`.** The first is the lesson's own."
    first = several if len(shown) > 1 else f"**A correct answer to `{name}`.** It is the lesson's own."
    display_markdown("\n\n".join([first, *shown]))


def is_open(session: Session, name: str) -> bool:
    """Whether `solution` would show the answers to an exercise or step of this session's lesson."""
    try:
        lesson = session.lesson_of(name)
        return bool(_published(lesson, name)) and not _still_missing(session, lesson, name)
    except (LookupError, OSError, ValueError):
        return False


def _published(lesson: str, name: str) -> list[dict[str, str]]:
    """Read the solutions. Raises FileNotFoundError, or ValueError for a damaged file."""
    if code := catalog.step_answer(lesson, name):
        return [{"code": code.strip(), "comment": ""}]
    path = catalog.find_file(f"{lesson}{catalog.SOLUTIONS}")
    try:
        answers: list[dict[str, str]] = json.loads(path.read_text(encoding="utf-8"))[name]
    except FileNotFoundError:
        raise FileNotFoundError(
            f"The solutions to {lesson} are not here. They are in a separate file, {lesson}{catalog.SOLUTIONS}: an "
            "open course publishes it with its notebooks, a graded course when it is over. Look where you got this "
            "notebook, and put the file next to it."
        ) from None
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{path} cannot be read: download it again from where you got this notebook.") from None
    return answers


def _still_missing(session: Session, lesson: str, name: str) -> str:
    """The steps left before solutions open; empty: none."""
    known, hints = session.store.get(lesson, name), len(catalog.tasks_of(lesson)[name]["hints"])
    if known.passed or (known.hints >= hints and len(known.tries) >= TRIES):
        return ""
    return f"So far: {known.hints} of {hints} hints, {min(len(known.tries), TRIES)} of {TRIES} tries."
