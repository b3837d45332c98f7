"""Lessons as a course asks them: with its points, and without the exercises that it leaves out."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from math import isclose
from pathlib import Path

from course.outline import scale_points

from ..course_dir.lesson_change import LessonChange
from .exercise import Exercise
from .lesson import Lesson, load_lesson


def load_adapted(tests: Path, change: LessonChange) -> Lesson:
    """Load `grader_tests/NN_lesson/` with the course's changes. Raises as `load_lesson`."""
    lesson = load_lesson(tests)
    return _adapted(lesson, tuple(change.points.items()), change.left_out) if change else lesson


@lru_cache(maxsize=64)
def _adapted(lesson: Lesson, points: tuple[tuple[str, float], ...], left_out: frozenset[str]) -> Lesson:
    """Cached for each lesson, because results computed for an exercise are stored with it."""
    given = dict(points)
    asked = {name: exercise for name, exercise in lesson.exercises.items() if name not in left_out}
    return replace(lesson, exercises={name: _with_points(one, given.get(name)) for name, one in asked.items()})


def _with_points(exercise: Exercise, points: float | None) -> Exercise:
    if points is None or isclose(points, exercise.points):
        return exercise
    scaled = zip(exercise.criteria, scale_points([c.points for c in exercise.criteria], points), strict=True)
    return replace(exercise, criteria=[replace(criterion, points=new) for criterion, new in scaled])
