"""`progress`: check every exercise and step again and show the progress."""

from __future__ import annotations

from ..report import Report, Row, display, in_notebook
from . import catalog, check, course_progress, experiment, hand_in
from .answer_or_fallback import own_answer
from .session import Session, current


def progress() -> None:
    """Check every exercise again and show the progress on the lesson and the course.

    In a notebook it also shows whether the lesson is ready to hand in.
    """
    session = current()
    lesson = session.lesson
    if lesson is None:
        print(hand_in.NONE_BEGUN)
        return
    shown = lesson_report(session)
    if in_notebook():
        shown.notes = hand_in.readiness(session, lesson, hand_in.READY + hand_in.NEXT)
    display(shown)
    if session.store.path:
        course_progress.show_course_progress(session)


def lesson_report(session: Session) -> Report:
    """Check every exercise of the current lesson and report on all of them."""
    rows, earned, total = [], 0.0, 0.0
    exercises = catalog.exercises_of(session.lesson or "")
    for name, data in exercises.items():
        status, points = _status(session, name)
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
    lesson = session.lesson or ""
    ungraded = [*_steps(session), *_experiment(session, lesson), *_challenges(session)]
    return Report(lesson, status, earned, total, headline, rows=rows + ungraded, unfolded=True)


def _steps(session: Session) -> list[Row]:
    """Rows for the steps, below one that counts them; they do not count towards the lesson."""
    rows = [Row(f"Step `{name}`", _status(session, name)[0]) for name in catalog.steps_of(session.lesson or "")]
    done = sum(row.status == "passes" for row in rows)
    begun = any(row.status != "not started" for row in rows)
    status = "passes" if done == len(rows) else "partly right" if begun else "not started"
    return [Row(f"Steps: {done} of {len(rows)}", status), *rows] if rows else []


def _experiment(session: Session, lesson: str) -> list[Row]:
    """A row for the experiment, if the lesson has one."""
    status = experiment.status_of(session, lesson)
    return [Row("Your experiment", status)] if status else []


def _challenges(session: Session) -> list[Row]:
    """Rows for the challenges, which do not count towards the lesson."""
    rows = []
    for name, data in catalog.challenges_of(session.lesson or "").items():
        status, won = _status(session, name)
        rows.append(Row(f"Challenge `{name}`", status, "★" * int(won) + "☆" * (data["stars"] - int(won))))
    return rows


def _status(session: Session, name: str) -> tuple[str, float]:
    if name not in session.names:
        return "not started", 0.0
    if own_answer(session.names[name]) in session.hung:
        return "wrong", 0.0
    try:
        shown = check.latest_report(session, name)
        return shown.status, shown.earned
    except Exception:
        return "needs a person", 0.0
