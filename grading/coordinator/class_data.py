"""Load a class's grades and answers for the class report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbgrader.api import Grade, Gradebook, SubmittedAssignment
from nbgrader.coursedir import CourseDirectory

from ..class_report.model import Answer, Course, Submission
from ..course_dir.course_file import load_course_file
from ..course_dir.lessons import list_lessons
from ..gradebook.accommodations import accommodations
from ..gradebook.grade_inputs import digest_of_text
from ..gradebook.store import StoredGrade, stored_grades, submissions_of
from ..lms.gradebook_csv import Person, person
from ..notebooks.cells import exercise_named, grade_id
from .nbgrader_api import configuration, is_registered, ungraded


def load_class(root: Path) -> Course:
    """Load all grades and answers of the course in `root`, ungraded work and excuses."""
    directory = CourseDirectory(config=configuration(root))
    answers, submissions, excused = list[Answer](), list[Submission](), list[tuple[str, str]]()
    if any(is_registered(root, path.name) for path in (root / "release").glob("*")):
        with Gradebook(directory.db_url, directory.course_id) as gradebook:
            excused += [(row.student, row.lesson) for row in accommodations(gradebook) if row.excused]
            for lesson in [assignment.name for assignment in gradebook.assignments]:
                graded = list(stored_grades(gradebook, lesson))
                handed_in = submissions_of(gradebook, lesson)  # read last: a grading run may be adding to both
                for grade in graded:
                    if (grade.student, grade.lesson) in excused or grade.student not in handed_in:
                        continue
                    found = list(_answers(directory, grade, handed_in[grade.student]))
                    answers += found
                    submissions.append(
                        _submission(grade, handed_in[grade.student], any(a.points is None for a in found))
                    )
    for rows in (answers, submissions):
        rows.sort(key=lambda row: (row.student, row.lesson))
    left = [pair for pair in ungraded(root) if pair not in excused]
    title = load_course_file(root).title or root.name
    return Course(answers, submissions, left, excused, title, list_lessons(root, ordinary=True))


def load_roster(root: Path) -> list[Person]:
    """Everyone in the gradebook, with the ids by which an LMS may know them."""
    directory = CourseDirectory(config=configuration(root))
    with Gradebook(directory.db_url, directory.course_id) as gradebook:
        return [person(student.id, student.lms_user_id, student.email) for student in gradebook.students]


def _submission(grade: StoredGrade, submitted: SubmittedAssignment, waits: bool) -> Submission:
    points = submitted.score - submitted.late_submission_penalty
    return Submission(grade.student, grade.lesson, points, submitted.max_score, submitted.timestamp, waits)


def _answers(directory: CourseDirectory, grade: StoredGrade, submitted: SubmittedAssignment) -> Iterator[Answer]:
    sources = _sources(directory, grade)
    grades = {row.name: row for notebook in submitted.notebooks for row in notebook.grades}
    for name, verdict in grade.verdicts.items():
        row = grades[name]
        waiting = bool(row.needs_manual_grade)
        yield Answer(grade.student, grade.lesson, _points(row), verdict, waiting, sources.get(exercise_named(name), ""))


def _points(grade: Grade) -> float | None:
    return None if grade.manual_score is None and grade.auto_score is None else float(grade.score)


def _sources(directory: CourseDirectory, grade: StoredGrade) -> dict[str, str]:
    """Answer cells by exercise; none if the file is not the one that was graded."""
    folder = Path(directory.format_path(directory.autograded_directory, grade.student, grade.lesson))
    try:
        text = (folder / f"{grade.lesson}.ipynb").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return {}
    if digest_of_text(text) != grade.digest:
        return {}
    cells = nbformat.reads(text, as_version=4).cells
    return {grade_id(c): c.source for c in cells if c.metadata.get("nbgrader", {}).get("solution") and grade_id(c)}
