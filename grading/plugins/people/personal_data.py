"""Export or delete everything that a course holds about one student."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from course.models.write_file import PRIVATE, open_replacement
from grading.course import Course, near_student
from grading.errors import StepFailed
from grading.gradebook.lock import exclusive
from grading.safe_text import plural

from .personal_files import PersonalFiles, files_in, find_files, remove_files
from .personal_rows import Rows, delete_rows, mentions, rows_about, tables_of

ABOUT = "about.json"
README = (
    "Everything that this course holds about {student}. about.json has the rows of the gradebook "
    "and of tables; the folders have\nfiles as they are in the course. autograded/ and "
    "submitted/ are notebooks; feedback/ opens in a browser.\n\nLook through it before you pass "
    "it on: autograded notebooks of ordinary nbgrader assignments contain hidden tests, and\na "
    "group's work also belongs to its other members.\n\nNot included, because it is outside the "
    "course:\n{outside}\n"
)


@dataclass
class PersonalData:
    """Everything about one student.

    rows     of the gradebook
    named    places in the gradebook where texts about others name the student
    outside  places outside the course where there may be more
    """

    student: str
    rows: Rows
    files: PersonalFiles
    named: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """Lines that list the data."""
        for name, rows in self.rows.items():
            yield f"gradebook, {name}: {plural(len(rows), 'row')}"
        for folder in self.files.folders:
            yield f"{folder}/"
        for path, lines in self.files.lines.items():
            yield f"{path}: {plural(len(lines), 'line')}"

    @property
    def left(self) -> list[str]:
        """Entries that mention the student and others, so that a person has to look at it."""
        return [*map(str, self.files.mentions), *(f"gradebook, {place}" for place in self.named)]


def find_personal_data(course: Course, student: str) -> PersonalData:
    """Search the whole course for a student. Raises StepFailed if nothing is found."""
    found = PersonalData(student, {}, find_files(course.root, student), outside=_outside(course))
    if course.has_gradebook:
        with course.gradebook() as gradebook, gradebook.engine.connect() as connection:
            tables = tables_of(connection)
            found.rows = rows_about(connection, tables, student)
            found.named = list(mentions(connection, tables, student, found.rows))
    if not found.rows and not found.files.folders and not found.files.lines:
        raise StepFailed(f"the course holds nothing about {student}{near_student(student, course.known_students())}")
    return found


def export_student(course: Course, student: str, to: Path) -> PersonalData:
    """Write everything to a zip that only its owner can read. Raises StepFailed."""
    found = find_personal_data(course, student)
    about = {
        "student": student,
        "gradebook": {name: [_readable(row) for row in rows] for name, rows in found.rows.items()},
        "tables": {str(path): lines for path, lines in found.files.lines.items()},
        "mentioned_in": found.left,
        "outside": found.outside,
    }
    with open_replacement(to, PRIVATE) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        outside = "\n".join(f"- {line}" for line in found.outside)
        archive.writestr("README.txt", README.format(student=student, outside=outside))
        archive.writestr(ABOUT, json.dumps(about, indent=1, ensure_ascii=False, default=str) + "\n")
        for path in files_in(course.root, found.files.folders):
            archive.writestr(str(path), (course.root / path).read_bytes())
    return found


def forget_student(course: Course, student: str) -> PersonalData:
    """Delete everything about a student; returns what still mentions them.

    Raises StepFailed, CourseLocked.
    """
    with exclusive(course.root):
        found = find_personal_data(course, student)
        if course.has_gradebook:
            try:
                with course.gradebook() as gradebook:
                    delete_rows(gradebook, student)
            except SQLAlchemyError as error:  # for example, another program has locked it
                why = " ".join(str(error).split())
                raise StepFailed(f"the gradebook could not be changed: {why}. Run the command again") from error
        remove_files(course.root, student, found.files)
        left = find_files(course.root, student)
        return PersonalData(student, {}, left, found.named, found.outside)


def _readable(row: dict[str, Any]) -> dict[str, Any]:
    """The row, with JSON texts parsed."""
    return {name: _parsed(value) for name, value in row.items()}


def _parsed(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except ValueError:
            pass
    return value


def _outside(course: Course) -> list[str]:
    """Places outside the course that may hold data about students."""
    exchange = course.config.get("Exchange", {}).get("root", "")
    url = course.directory().db_url
    backups = sorted(path.name for path in course.root.glob("backup-*.tar.gz"))
    lines = [
        "your learning platform: submissions, points and feedback there; collecting a download again brings them back",
        "downloads and gradebook files that you keep elsewhere, and the class page if you saved or sent it",
        "backups of the course or of the machine" + (f", such as {', '.join(backups)} here" if backups else ""),
        "feedback that was sent or published, and the student's own copies",
        "machines of a cluster, if you grade on one: its workers' temporary folders",
        "a version control system, if submissions or grades were committed",
    ]
    if isinstance(exchange, str) and exchange:
        lines.append(f"nbgrader's exchange, {exchange}: inbound/ and feedback/, and the students' caches")
    if not url.startswith("sqlite"):
        lines.append("the database server's own logs and backups")
    return lines
