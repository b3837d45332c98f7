"""Columns of an LMS's gradebook file, in course.toml."""

from __future__ import annotations

from grading.course_dir.course_file import LessonEntry


class LessonColumn(LessonEntry):
    """`column`: the lesson's column in a gradebook file of the LMS."""

    column: str = ""
