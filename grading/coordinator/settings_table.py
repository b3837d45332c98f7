"""Show a course's settings as tables: lessons, and differences from the defaults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..authoring.student_install import Delivery
from ..course import Course
from ..course_dir.course_config import Setting
from ..course_dir.lesson_marks import points_asked
from ..course_dir.lessons import COURSE_FILE
from ..course_dir.paths import CONFIG
from ..nbgrader_plugins.execute import JudgedExecute
from ..nbgrader_plugins.late_policy import LatePolicy
from ..points import points_text

LOOKED_FOR = [
    *((LatePolicy, name) for name in ("policy", "grace_minutes", "most")),
    *((Delivery, name) for name in ("repository", "hub", "package", "solutions")),
    *((JudgedExecute, name) for name in ("limits", "notebook_seconds", "device", "unsandboxed")),
]


def with_defaults(found: Sequence[Setting]) -> list[Setting]:
    """Add the defaults of the settings that teachers look for."""
    made = {setting.name for setting in found}
    usual = {f"{kind.__name__}.{name}": kind.class_traits()[name].default() for kind, name in LOOKED_FOR}
    return sorted(
        [*found, *(Setting(name, value, "default") for name, value in usual.items() if name not in made)],
        key=lambda setting: setting.name,
    )


@dataclass(frozen=True)
class LessonSettings:
    """The settings of one lesson.

    due      with its time zone; "" for none
    points   by exercise
    changed  exercises with other points than the lesson's own
    given    exercises that the course leaves out
    """

    lesson: str
    due: str
    points: Mapping[str, float]
    changed: Sequence[str]
    given: Sequence[str]


def lesson_settings(course: Course) -> list[LessonSettings]:
    """The lessons in the course's order. Raises CourseFileError."""
    found = []
    for name in course.lessons(ordinary=False):
        change, due = course.toml.change(name), course.toml.due(name)
        when = f"{due:%Y-%m-%d %H:%M %Z}" if due else ""
        points = points_asked(course.root, name, change)
        changed = [exercise for exercise in points if exercise in change.points]
        found.append(LessonSettings(name, when, points, changed, sorted(change.left_out)))
    return found


def show_settings(course: Course, found: Sequence[Setting], console: Console) -> None:
    """Print the course's title, its lessons, and every setting with its source."""
    if course.toml.title:
        console.print(Text(course.toml.title, style="bold"))
    lessons = Table("lesson", "due", "points", "differs", box=SIMPLE_HEAD, title="Lessons", title_justify="left")
    lessons.columns[2].justify = "right"
    for one in lesson_settings(course):
        differs = [f"{exercise}: {points_text(one.points[exercise])} points" for exercise in one.changed]
        differs += [f"{exercise}: left out" for exercise in one.given]
        differs += course.toml.notes(one.lesson)
        lessons.add_row(Text(one.lesson), one.due, points_text(sum(one.points.values())), Text(", ".join(differs)))
    console.print(lessons)
    settings = Table("setting", "value", "from", box=SIMPLE_HEAD, title="Settings", title_justify="left")
    for setting in found:
        settings.add_row(Text(setting.name), Text(str(setting.value), overflow="fold"), setting.source)
    console.print(settings)
    if not (course.root / COURSE_FILE).exists():
        console.print(
            f"There is no {COURSE_FILE}: every value is from {CONFIG}. Run `grading init --upgrade .` to write one."
        )
