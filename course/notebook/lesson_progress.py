"""Where the whole notebook stands: `progress` checks every exercise again."""

from __future__ import annotations

from ..report import Report, Row, display, in_notebook
from . import checking, course_progress, hand_in


def progress() -> None:
    """Check every exercise of the lesson again, and show where each stands, in a notebook also whether it is ready to
    hand in; then how far the whole course is, where that is remembered."""
    lesson = checking.session.lesson
    if lesson is None:
        print(hand_in.NONE_BEGUN)
        return
    shown = lesson_report()
    if in_notebook():
        shown.notes = hand_in.readiness(lesson)
    display(shown)
    if checking.session.store.path:
        course_progress.show_course_progress()


def lesson_report() -> Report:
    """Where every exercise of the lesson that has begun stands now."""
    rows, earned, total = [], 0.0, 0.0
    for name, data in checking.exercises_of(checking.session.lesson or "").items():
        status, points = _status(name)
        earned, total = earned + points, total + data["points"]
        rows.append(Row(f"`{name}`", status, f"{data['points']:g} points"))
    stars = _challenges()
    done = sum(row.status == "passes" for row in rows)
    begun = "partly right" if earned else "wrong" if any(row.status != "not started" for row in rows) else "not started"
    status = "passes" if done == len(rows) else begun
    headline = f"{done} of {len(rows)} exercises pass."
    return Report(checking.session.lesson or "", status, earned, total, rows + stars, headline=headline)


def _challenges() -> list[Row]:
    """Where the lesson's challenges stand, which count for nothing but themselves; their stars are full where won."""
    rows = []
    for name, data in checking.challenges_of(checking.session.lesson or "").items():
        status, won = _status(name)
        rows.append(Row(f"Challenge `{name}`", status, "★" * int(won) + "☆" * (data["stars"] - int(won))))
    return rows


def _status(name: str) -> tuple[str, float]:
    if name not in checking.session.names:
        return "not started", 0.0
    f = checking.session.names[name]
    if f in checking.session.hung:
        return "wrong", 0.0
    try:
        of, shown = checking.session.last.get(name, (None, None))
        if shown is None or of is not f or not checking.passes_examples(f):
            shown = checking.check_report(f)
        return shown.status, shown.earned
    except Exception:
        return "needs a person", 0.0
