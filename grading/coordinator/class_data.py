"""A class's grades and answers, from the gradebook and the graded notebooks, for its overview."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbgrader.api import Grade, Gradebook, SubmittedAssignment
from nbgrader.coursedir import CourseDirectory

from ..class_report.model import Answer, Course, Submission
from ..gradebook.accommodations import accommodations
from ..gradebook.grade_inputs import digest_of_text
from ..gradebook.store import StoredGrade, stored_grades, submissions_of
from ..lms.gradebook_csv import Person, person
from ..notebooks.cells import exercise_named, grade_id
from .nbgrader_api import configuration, is_registered, ungraded


def load_class(root: Path) -> Course:
    """All that is graded in the course in `root`, what was handed in and is not, and who is excused from what."""
    directory = CourseDirectory(config=configuration(root))
    answers, submissions, free = list[Answer](), list[Submission](), list[tuple[str, str]]()
    if any(is_registered(root, path.name) for path in (root / "release").glob("*")):
        with Gradebook(directory.db_url, directory.course_id) as gradebook:
            free += [(one.student, one.lesson) for one in accommodations(gradebook) if one.excused]
            for lesson in [assignment.name for assignment in gradebook.assignments]:
                graded = list(stored_grades(gradebook, lesson))
                handed_in = submissions_of(gradebook, lesson)  # read afterwards: whoever grades now may add to both
                for one in graded:
                    if (one.student, one.lesson) in free or one.student not in handed_in:
                        continue
                    found = list(_answers(directory, one, handed_in[one.student]))
                    answers += found
                    submissions.append(_submission(one, handed_in[one.student], any(a.points is None for a in found)))
    for rows in (answers, submissions):
        rows.sort(key=lambda row: (row.student, row.lesson))
    return Course(answers, submissions, [one for one in ungraded(root) if one not in free], free)


def load_roster(root: Path) -> list[Person]:
    """Everyone in the gradebook, with the ids by which an LMS may know them."""
    directory = CourseDirectory(config=configuration(root))
    with Gradebook(directory.db_url, directory.course_id) as gradebook:
        return [person(one.id, one.lms_user_id, one.email) for one in gradebook.students]


def _submission(one: StoredGrade, submitted: SubmittedAssignment, waits: bool) -> Submission:
    points = submitted.score - submitted.late_submission_penalty
    return Submission(one.student, one.lesson, points, submitted.max_score, submitted.timestamp, waits)


def _answers(directory: CourseDirectory, one: StoredGrade, submitted: SubmittedAssignment) -> Iterator[Answer]:
    sources = _sources(directory, one)
    grades = {grade.name: grade for notebook in submitted.notebooks for grade in notebook.grades}
    for name, verdict in one.verdicts.items():
        grade = grades[name]
        waiting = bool(grade.needs_manual_grade)
        yield Answer(one.student, one.lesson, _points(grade), verdict, waiting, sources.get(exercise_named(name), ""))


def _points(grade: Grade) -> float | None:
    return None if grade.manual_score is None and grade.auto_score is None else float(grade.score)


def _sources(directory: CourseDirectory, one: StoredGrade) -> dict[str, str]:
    """What stands in the answer cells, by exercise; nothing where the file is not the one that was graded."""
    folder = Path(directory.format_path(directory.autograded_directory, one.student, one.lesson))
    try:
        text = (folder / f"{one.lesson}.ipynb").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return {}
    if digest_of_text(text) != one.digest:
        return {}
    cells = nbformat.reads(text, as_version=4).cells
    return {grade_id(c): c.source for c in cells if c.metadata.get("nbgrader", {}).get("solution") and grade_id(c)}
