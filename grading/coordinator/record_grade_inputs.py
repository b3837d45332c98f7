"""Keep existing grades up to date when a new version does not change them.

    python -m grading.coordinator.record_grade_inputs [LESSON ...]

Run this in a checkout before each new version, and name the lessons whose grades do change. It releases every lesson in
a temporary course and records the inputs of its grades in `gradebook/equivalent_inputs.json`.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from nbgrader.coursedir import CourseDirectory

from ..authoring.build import build_lesson
from ..course_dir.lessons import list_lessons
from ..course_dir.paths import CONFIG, course_root
from ..gradebook.equivalent_inputs import FILE, record_value
from ..nbgrader_plugins.execute import lesson_freshness
from .nbgrader_api import configuration, release

KEYS = ("graders", "release")


def record_grade_inputs(root: Path, changed: Iterable[str] = (), file: Path = FILE) -> None:
    """Record the current grade inputs of every lesson.

    `changed`: lessons whose grades differ from the previous version's.
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
    """Build and release a lesson in this course; returns its grade inputs."""
    build_lesson(course, lesson)
    release(course, lesson)
    config = configuration(course)
    made_of = lesson_freshness(CourseDirectory(config=config), config, lesson).of_lesson
    return {key: made_of[key] for key in KEYS}


if __name__ == "__main__":
    record_grade_inputs(course_root(), sys.argv[1:])
