"""Write course.toml for a new course, or for one that began without it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from ..errors import CourseError
from .lesson_marks import exercise_points
from .lessons import COURSE_FILE, list_lessons
from .paths import CONFIG

GET_CONFIG = "c = get_config()\n"
TAKE_OVER = (
    "# Reads course.toml; the lines below override it\nfrom grading.course_dir.course_config "
    "import course_settings  # noqa: E402\n\nc.merge(course_settings(__file__))\n"
)
TEMPLATES = Environment(
    loader=PackageLoader("grading"), undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False
)


def course_id(name: str) -> str:
    """Make nbgrader's course id from a folder's name."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name)


def write_course_file(root: Path, *, name: str = "", due: Mapping[str, datetime] | None = None) -> Path:
    """Write a course.toml that lists the lessons in source/ and changes nothing.

    name  the course's id (default: the folder's name)
    due   due dates by lesson, in UTC without a time zone, as nbgrader stores them

    Returns its path.
    """
    dates, folder = due or {}, root.resolve().name
    lessons = [
        {
            "name": lesson,
            "exercises": {name: f"{points:g}" for name, points in exercise_points(root, lesson).items()},
            "due": f"{dates[lesson].replace(tzinfo=UTC):%Y-%m-%dT%H:%M:%SZ}" if lesson in dates else "",
        }
        for lesson in list_lessons(root)
    ]
    text = TEMPLATES.get_template("course.toml.j2").render(
        title=folder.replace("_", " ").replace("-", " ").capitalize(), id=name or course_id(folder), lessons=lessons
    )
    path = root / COURSE_FILE
    path.write_text(text, encoding="utf-8")
    return path


def upgrade_course(root: Path, due: Mapping[str, datetime], name: str) -> list[str]:
    """Add a course.toml to a course that began without one.

    Makes nbgrader_config.py read course.toml first, so that its own settings still win. Returns lines that describe the
    changes. Raises CourseError.
    """
    if (root / COURSE_FILE).exists():
        raise CourseError(f"{root} already has a {COURSE_FILE}; nothing was changed")
    done = [f"{write_course_file(root, name=name, due=due)}: written. It changes nothing until you edit it."]
    settings = root / CONFIG
    text = settings.read_text(encoding="utf-8")
    if "course_settings" not in text and GET_CONFIG in text:
        settings.write_text(text.replace(GET_CONFIG, f"{GET_CONFIG}\n{TAKE_OVER}", 1), encoding="utf-8")
        done.append(f"{settings}: three lines added, so that nbgrader's own commands read {COURSE_FILE}")
    elif "course_settings" not in text:
        done.append(
            f"{settings} has no line `{GET_CONFIG.strip()}`: nbgrader's own commands will not read {COURSE_FILE}"
        )
    return done
