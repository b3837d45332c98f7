"""Where the whole notebook stands: `progress` checks every exercise again, `hand_in` makes the file to hand in."""

from __future__ import annotations

from . import checking, handing_in, whole
from .report import Report, Row, display, display_markdown, in_notebook

NONE_BEGUN = 'No lesson has begun: call begin("02_softmax") first.'
READY = (
    "Ready to hand in? Yes: every cell is there, none twice, none ended in an error, and what ran is saved. "
    "`course.hand_in()` makes the file."
)


def progress() -> None:
    """Check every exercise of the lesson again, and show where each stands, in a notebook also whether it is ready to
    hand in; then how far the whole course is, where that is remembered."""
    lesson = checking.notebook.lesson
    if lesson is None:
        print(NONE_BEGUN)
        return
    shown = standing()
    if in_notebook():
        shown.notes = _readiness(lesson)
    display(shown)
    if checking.notebook.memory.path:
        whole.show()


def hand_in() -> None:
    """Write the notebook, as it was saved, under the name that it is handed in by, and offer it for download. Never
    raises."""
    lesson = checking.notebook.lesson
    if lesson is None:
        print(NONE_BEGUN)
        return
    try:
        path = handing_in.write(handing_in.saved(lesson, checking.notebook.names), lesson)
    except (handing_in.NotFound, OSError) as error:
        print(f"Nothing was written: {error}")
        return
    ready = _readiness(lesson)
    display_markdown("\n\n".join([*ready, f"**`{path.as_posix()}`** is the file to hand in."]))
    if in_notebook():
        handing_in.offer(path)


def _readiness(lesson: str) -> list[str]:
    """Whether the notebook is ready to hand in, in sentences."""
    try:
        found = handing_in.faults(handing_in.saved(lesson, checking.notebook.names), checking.exercises_of(lesson))
    except handing_in.NotFound as error:
        return [f"Ready to hand in? That cannot be told: {error}"]
    return [f"Ready to hand in? No, not yet. {fault}" for fault in found] or [READY]


def standing() -> Report:
    """Where every exercise of the lesson that has begun stands now."""
    rows, earned, total = [], 0.0, 0.0
    for name, data in checking.exercises_of(checking.notebook.lesson or "").items():
        status, points = _status(name)
        earned, total = earned + points, total + data["points"]
        rows.append(Row(f"`{name}`", status, f"{data['points']:g} points"))
    stars = _challenges()
    done = sum(row.status == "passes" for row in rows)
    begun = "partly right" if earned else "wrong" if any(row.status != "not started" for row in rows) else "not started"
    status = "passes" if done == len(rows) else begun
    headline = f"{done} of {len(rows)} exercises pass."
    return Report(checking.notebook.lesson or "", status, earned, total, rows + stars, headline=headline)


def _challenges() -> list[Row]:
    """Where the lesson's challenges stand, which count for nothing but themselves; their stars are full where won."""
    rows = []
    for name, data in checking.challenges_of(checking.notebook.lesson or "").items():
        status, won = _status(name)
        rows.append(Row(f"Challenge `{name}`", status, "★" * int(won) + "☆" * (data["stars"] - int(won))))
    return rows


def _status(name: str) -> tuple[str, float]:
    if name not in checking.notebook.names:
        return "not started", 0.0
    f = checking.notebook.names[name]
    if f in checking.notebook.endless:
        return "wrong", 0.0
    try:
        of, shown = checking.notebook.last.get(name, (None, None))
        if shown is None or of is not f or not checking.passes_examples(f):
            shown = checking.checked(f)
        return shown.status, shown.earned
    except Exception:
        return "needs a person", 0.0
