"""The people of the gradebook, with the ids by which an LMS may know them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from grading.course import Course


@dataclass(frozen=True)
class Person:
    """A student.

    `keys`: ids that a file may use: nbgrader's, the LMS's, the e-mail address.
    """

    student: str
    keys: frozenset[str]


def load_roster(course: Course) -> list[Person]:
    """Everyone in the gradebook, with the ids by which an LMS may know them."""
    with course.gradebook() as gradebook:
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
