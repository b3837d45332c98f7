"""`hint` and `solution`: help that a learner asks for.

Hints come one at a time, and each can be read again. Solutions are correct answers in several styles, each with its
pros and cons. Those of exercises are in a separate file, `NN_lesson.solutions` (JSON), which an open course publishes.
It is not encrypted: unpublished solutions are simply not there. The package has an answer to each step.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from ..harness.serialization import PackingError
from ..report import display_markdown, shell
from . import catalog
from .saved_notebook import recent_cells
from .saved_progress import ExerciseProgress
from .session import Session, current

TRIES = 3  # different answers that were checked
HINTS = 3  # after which solutions open, or all, if there are fewer


def hint(f: Any) -> None:
    """Show the hints for the exercise `f` that were given before, and the next one.

    The next one comes after another try, or if you ask twice in a row: running all cells again uses up no hint.
    """
    session = current()
    name = session.name_of(f)
    try:
        lesson, hints = session.lesson_of(name), session.exercise_data(name)["hints"]
    except (LookupError, OSError, PackingError) as error:
        print(error)
        return
    if not hints:
        print(f"There are no hints for {name}.")
        return
    known = session.store.get(lesson, name)
    given = min(known.hints, len(hints))
    if given < len(hints) and (not given or len(known.tries) > known.asked or _asked_before(name)):
        given += 1
        session.store.record(lesson, name, replace(known, hints=given, asked=len(known.tries)))
    shown = [f"**Hint {number} of {len(hints)}.** {text}" for number, text in enumerate(hints[:given], 1)]
    more = [f"Still stuck? Run `hint({name})` again."] if given < len(hints) else []
    display_markdown("\n\n".join([*shown, *more]))


def _asked_before(name: str) -> bool:
    """Whether the cell before this one asked for a hint, too; outside of IPython every call asks."""
    if shell() is None:
        return True
    cells = recent_cells()
    next(cells, "")  # the running one
    return f"hint({name})" in next(cells, "")


def solution(f: Any) -> None:
    """Show correct answers to the exercise or step `f`, each with its pros and cons.

    They open once your answer passes, or after three hints and three different tries with `check`. Never raises.
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
        print(f"The solutions to {name} open once it passes, or after {missing}.")
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


def next_help(session: Session, name: str) -> str:
    """The call that helps with an exercise: `hint`, while one is left, then `solution`, if it is open; "" for none."""
    try:
        lesson, hints = session.lesson_of(name), session.exercise_data(name)["hints"]
    except (LookupError, OSError, PackingError):
        return ""
    if session.store.get(lesson, name).hints < len(hints):
        return f"hint({name})"
    return f"solution({name})" if is_open(session, name) else ""


def _published(lesson: str, name: str) -> list[dict[str, str]]:
    """Read the solutions. Raises FileNotFoundError, or ValueError for a damaged file."""
    if code := catalog.step_answer(lesson, name):
        return [{"code": code.strip(), "comment": ""}]
    path = catalog.solutions_file(lesson)
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
    """What is left before solutions open, such as "1 more hint and 2 more tries"; empty: nothing."""
    known: ExerciseProgress = session.store.get(lesson, name)
    if known.passed:
        return ""
    hints = min(HINTS, len(catalog.tasks_of(lesson)[name]["hints"])) - known.hints
    tries = TRIES - len(known.tries)
    left = [(hints, "hint", "hints"), (tries, "try", "tries")]
    return " and ".join(f"{n} more {one if n == 1 else several}" for n, one, several in left if n > 0)
