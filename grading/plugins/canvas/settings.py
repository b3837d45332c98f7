"""The course and its assignments in Canvas, in course.toml."""

from __future__ import annotations

from pydantic import Field

from grading.course_dir.course_file import CourseFile, LessonEntry, Table


class Lms(Table):
    canvas_url: str = ""
    canvas_course: int | None = Field(default=None, gt=0)


class LessonAssignment(LessonEntry):
    """`canvas`: number of the lesson's Canvas assignment."""

    canvas: int | None = Field(default=None, gt=0)


class CanvasCourse(CourseFile):
    lms: Lms = Lms()
