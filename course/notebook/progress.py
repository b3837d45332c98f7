"""`progress`: the lesson and the course in at most twelve lines.

An exercise that has passed stays passed, with its points, also after a wrong try. `hand_in` judges the notebook as it
is.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from ..outline import counts
from ..report import Report, Row, display, in_notebook
from . import catalog, check, experiment, hand_in
from .saved_progress import ExerciseProgress
from .session import Session, current

MOST_SENTENCES = 2  # on whether the notebook is ready to hand in


def progress() -> None:
    """Check what has not passed yet, and show the progress on the lesson and the course.

    In a notebook it also shows whether the lesson is ready to hand in.
    """
    session = current()
    lesson = session.lesson
    if lesson is None:
        print(hand_in.NONE_BEGUN)
        return
    with session.stand_ins.closed():
        shown = lesson_report(session)
    if session.store.path:
        shown.notes = [course_so_far(session)]
    if in_notebook():
        ready = hand_in.readiness(session, lesson, hand_in.READY + hand_in.NEXT)
        left = len(ready) - MOST_SENTENCES
        shown.notes += ready if left <= 0 else [*ready[:MOST_SENTENCES], f"`course.hand_in()` names {left} more."]
    display(shown)


def lesson_report(session: Session) -> Report:
    """Check the exercises of the current lesson that have not passed, and report on all."""
    lesson = session.lesson or ""
    exercises = catalog.exercises_of(lesson)
    known = {name: _progress_on(session, name) for name in exercises}
    earned, total = sum(one.earned for one in known.values()), sum(data["points"] for data in exercises.values())
    left = [name for name, one in known.items() if one.status != "passes"]
    begun = any(one.status != "not started" for one in known.values())
    status = "passes" if not left else "partly right" if earned else "wrong" if begun else "not started"
    if not begun:
        headline = f"Begin with `{left[0]}`: write it in its cell, run the cell, then run `check({left[0]})` below it."
    elif left:
        headline = f"{len(known) - len(left)} of {len(known)} exercises pass. Next: `{left[0]}`."
    else:
        headline = f"All {len(known)} exercises pass."
    passed, waiting = (
        [f"`{name}`" for name, one in known.items() if one.status == wanted] for wanted in ("passes", "not started")
    )
    others = [
        f"`{name}` {one.earned:g} of {exercises[name]['points']:g}"
        for name, one in known.items()
        if one.status not in ("passes", "not started")
    ]
    rows = [
        Row(f"{title}: {', '.join(names)}", mark)
        for title, names, mark in (
            ("Pass", passed, "passes"),
            ("Not yet", others, "partly right"),
            ("Not started", waiting, "not started"),
        )
        if names
    ]
    return Report(lesson, status, earned, total, headline, rows=rows + _ungraded(session, lesson), unfolded=True)


def _ungraded(session: Session, lesson: str) -> list[Row]:
    """A row for what has no points: some exercises, and the experiment."""
    finding = experiment.status_of(session, lesson)
    found = [
        *(_progress_on(session, name).status for name in catalog.steps_of(lesson)),
        *([finding] if finding else []),
    ]
    passed = found.count("passes")
    begun = any(status != "not started" for status in found)
    status = "passes" if passed == len(found) else "partly right" if begun else "not started"
    return [Row(f"Without points: {passed} of {len(found)} pass", status)] if found else []


def _progress_on(session: Session, name: str) -> ExerciseProgress:
    """The progress on a task; its answer is checked if it has not passed yet."""
    lesson = session.lesson_of(name)
    f = session.names.get(name)
    if session.store.get(lesson, name).status == "passes" or f is None:
        return session.store.get(lesson, name)
    if f in session.hung:
        return ExerciseProgress("wrong")
    try:
        check.latest_report(session, name)
    except Exception:
        return ExerciseProgress("needs a person")
    return session.store.get(lesson, name)


@dataclass(frozen=True)
class LessonProgress:
    """Saved progress on one lesson. `next`: its first exercise that does not pass, or ""."""

    lesson: str
    done: int
    exercises: int
    earned: float
    points: float
    next: str

    @property
    def mark(self) -> str:
        return "✓" if not self.next else "◐" if self.done else "○"


def saved_lessons(session: Session) -> list[LessonProgress]:
    """Saved progress on all lessons, in order."""
    return [_saved(session, lesson) for lesson in catalog.lessons()]


def _saved(session: Session, lesson: str) -> LessonProgress:
    exercises = catalog.exercises_of(lesson)
    known = {name: session.store.get(lesson, name) for name in exercises}
    left = [name for name, one in known.items() if one.status != "passes"]
    points = sum(float(data["points"]) for data in exercises.values())
    earned = min(points, sum(one.earned for one in known.values()))
    return LessonProgress(lesson, len(known) - len(left), len(known), earned, points, left[0] if left else "")


def course_so_far(session: Session) -> str:
    """The course in a few sentences: marks for its lessons, what is next, and where progress is saved.

    Warm-ups are not counted, and not what is next.
    """
    saved, marks = saved_lessons(session), list[str]()
    counted = [lesson for lesson in saved if counts(lesson.lesson)]
    for mark, alike in groupby(counted, key=lambda lesson: lesson.mark):
        first, *more = (lesson.lesson[:2] for lesson in alike)
        marks.append(f"{mark} {first}–{more[-1]}" if more else f"{mark} {first}")
    done, total = sum(lesson.done for lesson in counted), sum(lesson.exercises for lesson in counted)
    earned, points = sum(lesson.earned for lesson in counted), sum(lesson.points for lesson in counted)
    title, passing = catalog.course_title() or "The course", f"{done} of {total} exercises pass"
    sentences = [f"{title} so far: {', '.join(marks)}. {passing}, {earned:g} of {points:g} points."]
    ahead = [lesson for lesson in counted if lesson.next]
    if ahead and not any(lesson.next and lesson.lesson == session.lesson for lesson in saved):
        sentences.append(f"Next: `{ahead[0].next}`, in {ahead[0].lesson}.")
    if path := session.store.path:
        sentences.append(f"Remembered in {path}; delete the file to forget.")
    return " ".join(sentences)
