"""`progress`: check every exercise again, with points and without, and show the progress."""

from __future__ import annotations

from ..report import Report, Row, display, in_notebook
from . import catalog, check, course_progress, experiment, hand_in, session
from .answer_or_fallback import own_answer


def progress() -> None:
    """Check every exercise again and show the progress on the lesson and the course.

    In a notebook it also shows whether the lesson is ready to hand in.
    """
    lesson = session.current.lesson
    if lesson is None:
        print(hand_in.NONE_BEGUN)
        return
    shown = lesson_report()
    if in_notebook():
        shown.notes = hand_in.readiness(lesson, hand_in.READY + hand_in.NEXT)
    display(shown)
    if session.current.store.path:
        course_progress.show_course_progress()


def lesson_report() -> Report:
    """Check every exercise of the current lesson and report on all of them."""
    rows, earned, total = [], 0.0, 0.0
    exercises = catalog.exercises_of(session.current.lesson or "")
    for name, data in exercises.items():
        status, points = _status(name)
        earned, total = earned + points, total + data["points"]
        rows.append(Row(f"`{name}`", status, f"{points:g} of {data['points']:g}"))
    left = [name for name, row in zip(exercises, rows, strict=True) if row.status != "passes"]
    begun = any(row.status != "not started" for row in rows)
    status = "passes" if not left else "partly right" if earned else "wrong" if begun else "not started"
    if not begun:
        headline = f"Begin with `{left[0]}`: write it in its cell, run the cell, then run `check({left[0]})` below it."
    elif left:
        headline = f"{len(rows) - len(left)} of {len(rows)} exercises pass. Next: `{left[0]}`."
    else:
        headline = f"All {len(rows)} exercises pass."
    lesson = session.current.lesson or ""
    ungraded = [*_steps(), *_experiment(lesson)]
    return Report(lesson, status, earned, total, headline, rows=rows + ungraded, unfolded=True)


def _steps() -> list[Row]:
    """Rows for the exercises without points, below one that counts them; they do not count towards the lesson."""
    rows = [Row(f"`{name}`", _status(name)[0]) for name in catalog.steps_of(session.current.lesson or "")]
    done = sum(row.status == "passes" for row in rows)
    begun = any(row.status != "not started" for row in rows)
    status = "passes" if done == len(rows) else "partly right" if begun else "not started"
    return [Row(f"Without points: {done} of {len(rows)}", status), *rows] if rows else []


def _experiment(lesson: str) -> list[Row]:
    """A row for the experiment, if the lesson has one."""
    status = experiment.status_of(lesson)
    return [Row("Your experiment", status)] if status else []


def _status(name: str) -> tuple[str, float]:
    if name not in session.current.names:
        return "not started", 0.0
    if own_answer(session.current.names[name]) in session.current.hung:
        return "wrong", 0.0
    try:
        shown = check.latest_report(name)
        return shown.status, shown.earned
    except Exception:
        return "needs a person", 0.0
