"""Keeps the grades of existing gradebooks up to date where a release of ours changes a lesson and no grade.

    python -m grading.coordinator.record_same_grades [LESSON ...]

To be run before each release, in a checkout, with the lessons whose grades the release does change. It releases every
lesson in a course of its own, and records what a grade of it is made of now in `gradebook/same_grades.json`.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from nbgrader.coursedir import CourseDirectory

from ..authoring.build import build_lesson
from ..course_dir.paths import CONFIG, course_root, list_lessons
from ..gradebook.same_grades import FILE, record_value
from ..nbgrader_plugins.execute import lesson_freshness
from .nbgrader_api import configuration, release

KEYS = ("graders", "release")


def record_same_grades(root: Path, changed: Iterable[str] = (), file: Path = FILE) -> None:
    """Record what a grade of each lesson is made of now.

    changed  lessons whose grades are not the same as those of the release before
    """
    different = set(list_lessons(root, changed)) if changed else set()
    with tempfile.TemporaryDirectory(prefix="grading-") as folder:
        course = Path(folder)
        shutil.copy(root / CONFIG, course)
        for name in ("source", "grader_tests"):
            shutil.copytree(root / name, course / name, ignore=shutil.ignore_patterns("__pycache__"))
        for lesson in list_lessons(course):
            for key, value in inputs_of(course, lesson).items():
                record_value(key, lesson, value, changed=lesson in different, file=file)
            print(f"{lesson}: recorded", flush=True)


def inputs_of(course: Path, lesson: str) -> dict[str, str]:
    """What grades of a lesson are made of once it is released; the lesson is built and released in this course."""
    build_lesson(course, lesson)
    release(course, lesson)
    config = configuration(course)
    made_of = lesson_freshness(CourseDirectory(config=config), config, lesson).of_lesson
    return {key: made_of[key] for key in KEYS}


if __name__ == "__main__":
    record_same_grades(course_root(), sys.argv[1:])
