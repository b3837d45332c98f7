"""Load a class's grades and answers for the class report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from zoneinfo import ZoneInfo

import nbformat
from nbgrader.api import Grade, SubmittedAssignment
from nbgrader.coursedir import CourseDirectory

from ..class_report.model import Answer, ClassGrades, Submission
from ..course import Course
from ..course_dir.course_time import local
from ..gradebook.accommodations import accommodations
from ..gradebook.grade_inputs import digest_of_text
from ..gradebook.open_grades import has_open_grades, is_open, reopened, total_points
from ..gradebook.store import StoredGrade, stored_grades, submissions_of
from ..grader.verdict import needs_a_person
from ..notebooks.cells import exercise_named, grade_id

BY_HAND = "a person grades this answer"
CHANGED = "graded by hand, but its verdict changed afterwards"


def load_class(course: Course) -> ClassGrades:
    """Load the course's grades, answers, ungraded submissions and excuses."""
    directory, zone = course.directory(), course.zone
    answers, submissions, excused = list[Answer](), dict[tuple[str, str], Submission](), list[tuple[str, str]]()
    if any(course.is_registered(path.name) for path in (course.root / "release").glob("*")):
        with course.gradebook() as gradebook:
            excused += [(row.student, row.lesson) for row in accommodations(gradebook) if row.excused]
            for lesson in [assignment.name for assignment in gradebook.assignments]:
                graded = list(stored_grades(gradebook, lesson))
                handed_in = submissions_of(gradebook, lesson)  # read last: grading may add to both
                asked = reopened(gradebook, [n for submission in handed_in.values() for n in submission.notebooks])
                for grade in graded:
                    if (grade.student, grade.lesson) in excused or grade.student not in handed_in:
                        continue
                    submitted = handed_in[grade.student]
                    answers += _answers(directory, grade, submitted, asked)
                    submissions[grade.student, lesson] = _submission(grade, submitted, zone)
    answers.sort(key=lambda row: (row.student, row.lesson))
    rows = [submissions[key] for key in sorted(submissions)]
    left = [pair for pair in course.ungraded() if pair not in excused]
    title = course.toml.title or course.root.name
    return ClassGrades(answers, rows, left, excused, title, course.lessons())


def _submission(grade: StoredGrade, submitted: SubmittedAssignment, zone: ZoneInfo) -> Submission:
    points, provisional = total_points(submitted), has_open_grades(submitted)
    handed_in = local(submitted.timestamp, zone) if submitted.timestamp else None
    return Submission(grade.student, grade.lesson, points, submitted.max_score, handed_in, provisional)


def _answers(
    directory: CourseDirectory,
    grade: StoredGrade,
    submitted: SubmittedAssignment,
    asked: Mapping[tuple[str, str], str],
) -> Iterator[Answer]:
    """The answers in one graded notebook: exercises, and cells graded by hand."""
    sources = _sources(directory, grade)
    order = {name: number for number, name in enumerate(grade.verdicts)}
    notebook = next(notebook for notebook in submitted.notebooks if notebook.name == grade.notebook)
    for row in sorted(notebook.grades, key=lambda row: (order.get(row.name, len(order)), row.name)):
        exercise = exercise_named(row.name)
        verdict = grade.verdicts.get(row.name) or needs_a_person(exercise, row.max_score, BY_HAND)
        source = sources.get(exercise, "") if row.name in order else ""
        why = _why_open(row, asked.get((notebook.id, row.name), ""))
        yield Answer(grade.student, grade.lesson, _points(row), verdict, is_open(row), source, why)


def _why_open(grade: Grade, request: str) -> str:
    """Why a person has to look at a grade, unless its verdict has the reason."""
    if request:
        return f"reopened: {request}"
    return CHANGED if grade.manual_score is not None and is_open(grade) else ""


def _points(grade: Grade) -> float | None:
    return None if grade.manual_score is None and grade.auto_score is None else float(grade.score)


def _sources(directory: CourseDirectory, grade: StoredGrade) -> dict[str, str]:
    """Answer cells by exercise; empty if the file is not the graded one."""
    folder = Path(directory.format_path(directory.autograded_directory, grade.student, grade.lesson))
    try:
        text = (folder / f"{grade.notebook}.ipynb").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return {}
    if digest_of_text(text) != grade.digest:
        return {}
    cells = nbformat.reads(text, as_version=4).cells
    return {grade_id(c): c.source for c in cells if c.metadata.get("nbgrader", {}).get("solution") and grade_id(c)}
