"""Grade a sample class: release, hand in, grade, write feedback."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from rich.console import Console
from rich.text import Text

from ..course import Course
from ..course_dir.course_time import shown
from ..errors import CourseError
from ..submitted.evidence import BY_HAND, Origin, text_of
from ..submitted.submitted_dir import SubmittedFolder
from .demo_class import CUT_OFF, LATE, MISTAKEN, PREFIX, UNTOUCHED, sample_class
from .due_dates import due_dates, set_due_dates
from .grade_class import grade_class
from .release import release_lessons
from .write_feedback import write_feedback

PREFERRED = "02_softmax"  # the lesson to grade, if the course has it
SHOWN = {
    MISTAKEN: "wrong answers, and the mistakes by name",
    LATE: "right answers, handed in late",
    UNTOUCHED: "a notebook in which nothing is written",
    CUT_OFF: "a damaged file, which needs a person",
}


def one_lesson(course: Course) -> list[str]:
    """The lesson that the demonstration grades if none is named."""
    names = course.lessons(ordinary=False)
    return [PREFERRED] if PREFERRED in names else names[:1]


def demonstrate(course: Course, names: Sequence[str], console: Console) -> int:
    """Release lessons, then hand in and grade a sample class.

    Grades one submission first, so that there is a page to read while the others are graded. Writes feedback too.
    Returns the number of submissions and pages that failed. Raises CourseError if no lesson is given.
    """
    if not names:
        raise CourseError("the course has no lesson to show: `grading new-lesson NAME` makes one")
    begun = time.monotonic()
    release_lessons(course, names, console)
    for name in names:
        due = lesson_due(course, name, console)
        new = [
            student
            for student, notebook in sample_class(course.root, name)
            if hand_in_sample(course, name, student, _file(student, notebook), _time(student, due))
        ]
        console.print(f"{name}: {len(new)} sample submissions handed in" if new else f"{name}: sample class reused")
    first = course.root / _page(MISTAKEN, names[0])
    if not first.exists():
        grade_class(course, names[:1], console, students={MISTAKEN})
        write_feedback(course, names[:1], console, students={MISTAKEN})
        if first.exists():
            took = time.monotonic() - begun
            console.print(Text(f"First graded page, after {took:.0f} seconds: {first}", style="bold"), soft_wrap=True)
    return len(grade_class(course, names, console).failed) + write_feedback(course, names, console)


def pages_to_open(course: Course, lesson: str) -> Iterator[tuple[Path, str]]:
    """Files to open, with a description each: feedback pages and the notebook."""
    for student, about in SHOWN.items():
        if (page := course.root / _page(student, lesson)).exists():
            yield page, about
    yield course.root / "release" / lesson / f"{lesson}.ipynb", "the notebook that students get"


def hand_in_sample(course: Course, lesson: str, student: str, text: str, when: datetime) -> bool:
    """Write a sample file and its time; returns whether anything changed. Files from anybody else stay."""
    folder = SubmittedFolder(course.root, course.root / "submitted" / student / lesson, student, lesson)
    contents = {lesson: io.BytesIO(text.encode())}
    there = folder.origin(contents)
    if folder.holds(contents) or (there is not None and there.channel == BY_HAND):
        return False
    folder.write(contents, text_of(when), Origin("demo", "the demo", when))
    return True


def _page(student: str, lesson: str) -> str:
    return f"feedback/{student}/{lesson}/{lesson}.html"


def _file(student: str, notebook: NotebookNode) -> str:
    text: str = nbformat.writes(notebook, version=nbformat.NO_CONVERT) + "\n"
    return text[: len(text) // 2] if student == CUT_OFF else text


def _time(student: str, due: datetime) -> datetime:
    return due + (timedelta(hours=30) if student == LATE else timedelta(hours=-3))


def lesson_due(course: Course, lesson: str, console: Console) -> datetime:
    """The lesson's due date.

    Sets one if the lesson has none and only sample students have handed it in, so that one of them is late.
    """
    for line in set_due_dates(course, [lesson]):
        console.print(line)
    if found := due_dates(course).get(lesson):
        return found.replace(tzinfo=UTC)
    due = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(days=2)
    if all(student.startswith(PREFIX) for student in course.students_in_submitted(lesson)):
        with course.gradebook() as gradebook:
            gradebook.update_or_create_assignment(lesson, duedate=due.replace(tzinfo=None))
        console.print(f"{lesson}: due {shown(due, course.zone)}, for this demonstration")
    return due
