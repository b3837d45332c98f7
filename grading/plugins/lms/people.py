"""The people of the gradebook, with the ids by which an LMS may know them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory

from grading.coordinator.nbgrader_api import configuration


@dataclass(frozen=True)
class Person:
    """A student.

    `keys`: ids that a file may use: nbgrader's, the LMS's, the e-mail address.
    """

    student: str
    keys: frozenset[str]


def load_roster(root: Path) -> list[Person]:
    """Everyone in the gradebook, with the ids by which an LMS may know them."""
    directory = CourseDirectory(config=configuration(root))
    with Gradebook(directory.db_url, directory.course_id) as gradebook:
        return [person(student.id, student.lms_user_id, student.email) for student in gradebook.students]


def person(student: str, *others: str | None) -> Person:
    """Make a person from a student's id and other ids, if known."""
    return Person(student, frozenset(id_key(key) for key in (student, *others) if key and key.strip()))


def id_key(text: str) -> str:
    """Normalize an id.

    E-mail addresses ignore case, and spreadsheets write 4711 as 4711.0.
    """
    text = re.sub(r"^(\d+)\.0$", r"\1", text.strip())
    return text.casefold() if "@" in text else text
