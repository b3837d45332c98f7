"""Saved progress on the whole course: every lesson, and what is next."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from ..report import GREY, INK, display_html
from . import catalog
from .session import Session

# The last lesson of the core, if the course has the standard lessons
CORE_ENDS = "08_training"
ROAD = (
    "Lessons 01 to 08 are the core, 00 goes before it, and those from 09 on can be taken in any order afterwards. "
    "How long each takes and what it needs: docs/course.md, or “The road through” on the course's site."
)


@dataclass(frozen=True)
class LessonProgress:
    """Progress on one lesson. `next`: its first exercise that does not pass, or ""."""

    lesson: str
    done: int
    exercises: int
    earned: float
    points: float
    next: str
    steps_done: int = 0
    steps: int = 0

    @property
    def title(self) -> str:
        return self.lesson.replace("_", " ")


def lesson_progress(session: Session) -> list[LessonProgress]:
    """Progress on all lessons, in order."""
    return [_progress_of(session, lesson) for lesson in catalog.lessons()]


def _progress_of(session: Session, lesson: str) -> LessonProgress:
    exercises = catalog.exercises_of(lesson)
    known = {name: session.store.get(lesson, name) for name in exercises}
    left = [name for name, progress in known.items() if progress.status != "passes"]
    points = sum(float(data["points"]) for data in exercises.values())
    earned = min(points, sum(progress.earned for progress in known.values()))
    steps = [session.store.get(lesson, name).status == "passes" for name in catalog.steps_of(lesson)]
    done, ahead = len(known) - len(left), left[0] if left else ""
    return LessonProgress(lesson, done, len(known), earned, points, ahead, sum(steps), len(steps))


def show_course_progress(session: Session) -> None:
    """Show progress on the course: a table in a notebook, text elsewhere."""
    found = lesson_progress(session)
    display_html(to_html(session, found), to_text(session, found))


def to_text(session: Session, found: list[LessonProgress]) -> str:
    wide = max(len(line.title) for line in found)
    rows = [
        f"{'✓' if not line.next else '◐' if line.done else '○'} {line.title:<{wide}}  {_counts(line)}" for line in found
    ]
    return "\n".join([f"{_title()}:", *(f"  {row}" for row in rows), *_summary(session, found)])


def to_html(session: Session, found: list[LessonProgress]) -> str:
    """The table as HTML, readable without colours."""
    cell = 'style="text-align:left;padding:2px 12px 2px 0"'
    names = ("lesson", "", "exercises", "steps", "points", "next")
    head = "".join(f'<th scope="col" {cell}>{name}</th>' for name in names)
    rows = "".join(f"<tr>{_cells(line, cell)}</tr>" for line in found)
    notes = "".join(f'<p style="margin:4px 0;color:{GREY}">{escape(text)}</p>' for text in _summary(session, found))
    return (
        f'<div style="color:{INK};overflow-x:auto"><table><caption style="text-align:left"><b>{escape(_title())}</b>'
        f"</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{notes}</div>"
    )


def _title() -> str:
    return f"{catalog.course_title() or 'The course'} so far"


def _cells(line: LessonProgress, how: str) -> str:
    ahead = f"<code>{escape(line.next)}</code>" if line.next else "✓"
    cells = "".join(f"<td {how}>{text}</td>" for text in (_bar(line), _done(line), _steps(line), _points(line), ahead))
    return f'<th scope="row" {how}>{escape(line.title)}</th>{cells}'


def _bar(line: LessonProgress) -> str:
    share = 100 * line.done / line.exercises
    return (
        f'<div style="width:6em;border:1px solid {GREY}" role="img" aria-label="{_done(line)}">'
        f'<div style="width:{share:.0f}%;height:0.6em;background:{GREY}"></div></div>'
    )


def _done(line: LessonProgress) -> str:
    return f"{line.done} of {line.exercises} pass"


def _counts(line: LessonProgress) -> str:
    return ", ".join(filter(None, (_done(line), _steps(line), _points(line))))


def _steps(line: LessonProgress) -> str:
    return f"{line.steps_done} of {line.steps} steps" if line.steps else ""


def _points(line: LessonProgress) -> str:
    return f"{line.earned:g} of {line.points:g} points"


def _summary(session: Session, found: list[LessonProgress]) -> list[str]:
    """Sentences: what is next, how much is left, and where progress is saved."""
    left = sum(line.exercises - line.done for line in found)
    here = [line for line in found if line.next and line.lesson == session.lesson]
    ahead = here or [line for line in found if line.next]
    sentences = (
        [f"Next: {ahead[0].next}, in {ahead[0].lesson}. Left: {left} exercises."] if ahead else ["All of it passes."]
    )
    if any(line.lesson == CORE_ENDS for line in found):
        sentences.append(ROAD)
    path = session.store.path
    return [*sentences, f"Remembered in {path}; delete the file to forget."] if path else sentences
