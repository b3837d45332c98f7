"""`progress`: check every exercise again and show the progress."""

from __future__ import annotations

from ..report import Report, Row, display, in_notebook
from . import catalog, check, course_progress, hand_in, session


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
        shown.notes = hand_in.readiness(lesson)
    display(shown)
    if session.current.store.path:
        course_progress.show_course_progress()


def lesson_report() -> Report:
    """Check every exercise of the current lesson and report on all of them."""
    rows, earned, total = [], 0.0, 0.0
    for name, data in catalog.exercises_of(session.current.lesson or "").items():
        status, points = _status(name)
        earned, total = earned + points, total + data["points"]
        rows.append(Row(f"`{name}`", status, f"{data['points']:g} points"))
    stars = _challenges()
    done = sum(row.status == "passes" for row in rows)
    begun = "partly right" if earned else "wrong" if any(row.status != "not started" for row in rows) else "not started"
    status = "passes" if done == len(rows) else begun
    headline = f"{done} of {len(rows)} exercises pass."
    return Report(session.current.lesson or "", status, earned, total, rows + stars, headline=headline)


def _challenges() -> list[Row]:
    """Rows for the challenges, which do not count towards the lesson."""
    rows = []
    for name, data in catalog.challenges_of(session.current.lesson or "").items():
        status, won = _status(name)
        rows.append(Row(f"Challenge `{name}`", status, "★" * int(won) + "☆" * (data["stars"] - int(won))))
    return rows


def _status(name: str) -> tuple[str, float]:
    if name not in session.current.names:
        return "not started", 0.0
    if session.current.names[name] in session.current.hung:
        return "wrong", 0.0
    try:
        shown = check.latest_report(name)
        return shown.status, shown.earned
    except Exception:
        return "needs a person", 0.0
