"""Limits on attempts, in course.toml."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from grading.course import Course
from grading.course_dir.course_file import CourseFile, LessonEntry, Table
from grading.safe_text import plural

BEST = "best"


class Attempts(Table):
    """How many of a student's submissions of a lesson `grading watch` grades (0: no limit), and which one counts."""

    per_hour: int = Field(default=10, ge=0)
    per_day: int = Field(default=30, ge=0)
    counts: Literal["last", "best"] = "last"


class LessonAttempts(LessonEntry):
    """`attempts`: limits that differ from the course's."""

    attempts: Attempts = Attempts()


class CourseAttempts(CourseFile):
    attempts: Attempts = Attempts()

    def attempts_of(self, lesson: str) -> Attempts:
        """The limits for a lesson: its own where it has some, otherwise the course's."""
        entry = self.entry(lesson)
        assert isinstance(entry, LessonAttempts)
        own = entry.attempts
        return self.attempts.model_copy(update={name: getattr(own, name) for name in own.model_fields_set})

    def notes(self, lesson: str) -> list[str]:
        attempts = self.attempts_of(lesson)
        best = "the best submission counts" if attempts.counts == BEST else ""
        return [*super().notes(lesson), *filter(None, [in_words(attempts), best])]


def load_attempts(course: Course) -> CourseAttempts:
    """course.toml with its limits. Raises CourseFileError."""
    assert isinstance(course.toml, CourseAttempts)
    return course.toml


def in_words(limits: Attempts) -> str:
    """These limits, such as "3 submissions per hour and 10 per day"; "" for none."""
    given = [(limits.per_hour, "hour"), (limits.per_day, "day")]
    words = [f"{most} per {span}" for most, span in given if most]
    if not words:
        return ""
    first = limits.per_hour or limits.per_day
    return " and ".join([f"{plural(first, 'submission')}{words[0].removeprefix(str(first))}", *words[1:]])
