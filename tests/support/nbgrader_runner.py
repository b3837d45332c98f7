"""Run nbgrader's converters and apps in this process, over a course elsewhere."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config, PyFileConfigLoader

from grading.course_dir.paths import CONFIG

from .two_exercise_course import LESSON


def course_config(root: Path) -> Config:
    """The configuration of a course with two exercises, for a command that is started in another directory."""
    config = PyFileConfigLoader(CONFIG, path=str(root)).load_config()
    config.CourseDirectory.root = str(root)
    config.CourseDirectory.assignment_id = LESSON
    config.CourseDirectory.db_url = f"sqlite:///{root}/gradebook.db"
    return config


def run_converter(converter_class: Any, root: Path, **settings: Any) -> Any:
    """Run a converter as its command does, and return it. Raises what the command would report."""
    config = course_config(root)
    converter = converter_class(coursedir=CourseDirectory(config=config), config=config, **settings)
    converter.log.setLevel(logging.CRITICAL)
    converter.start()
    return converter
