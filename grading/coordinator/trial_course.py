"""Temporary copies of a course to try changes on, with or without its grades.

They are folders in the course directory. Their names have a prefix by which the next trial finds and removes what a
killed process left.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from nbgrader.api import Base
from sqlalchemy import create_engine, insert, select

from ..course import Course
from ..course_dir.fingerprints import fingerprint_file
from ..course_dir.lesson_base import write_lessons
from ..course_dir.paths import CONFIG
from ..course_dir.seeds import FILE
from ..errors import CourseError

TRIAL = ".migrating-"  # prefix of the folders
PARTS = ("source", "grader_tests", "release")
AT_ONCE = 1000  # rows of the gradebook in memory at a time
ABOUT_STUDENTS = frozenset({"student", "submitted_assignment", "submitted_notebook", "comment", "grade"})  # tables
SETTINGS = ("*.py", "*.toml", f"{FILE}*")


def clear_trials(course: Course) -> None:
    """Remove the folders that a killed process left."""
    for left in course.root.glob(f"{TRIAL}*"):
        shutil.rmtree(left)


@contextmanager
def trial_course(course: Course) -> Iterator[Course]:
    """Copy everything that grading needs, with the gradebook as an SQLite file."""
    with tempfile.TemporaryDirectory(prefix=TRIAL, dir=course.root) as folder:
        trial = Course(Path(folder))
        _copy_settings(course, trial)
        with (trial.root / CONFIG).open("a", encoding="utf-8") as settings:
            settings.write(f"\nc.CourseDirectory.db_url = {copy_gradebook(course, trial.root / 'gradebook.db')!r}\n")
        for part in PARTS:
            if (course.root / part).is_dir():
                shutil.copytree(course.root / part, trial.root / part, ignore=shutil.ignore_patterns("__pycache__"))
        for part in ("submitted", "autograded"):
            if (course.root / part).is_dir():
                shutil.copytree(course.root / part, trial.root / part, symlinks=True, copy_function=_link_or_copy)
        yield trial


@contextmanager
def trial_lessons(course: Course, lessons: Mapping[str, str]) -> Iterator[Course]:
    """Make a course with this one's settings and these lessons.

    Its path is new, so no module of it has been imported before.
    """
    with tempfile.TemporaryDirectory(prefix=TRIAL, dir=course.root) as folder:
        trial = Course(Path(folder))
        _copy_settings(course, trial)
        write_lessons(trial.root, lessons)
        fingerprint_file(trial.root).add(fingerprint_file(course.root).read())
        yield trial


def failed_builds(course: Course, names: Iterable[str]) -> dict[str, str]:
    """Build these lessons; returns the reason for each that fails."""
    from ..authoring.build import build_lesson  # imports torch

    failed = {}
    for name in names:
        try:
            build_lesson(course.root, name)
        except (CourseError, FileNotFoundError) as error:
            failed[name] = str(error).replace(f"{course.root}/", "")
    return failed


def _copy_settings(course: Course, trial: Course) -> None:
    for pattern in SETTINGS:
        for path in course.root.glob(pattern):
            shutil.copy2(path, trial.root)


def copy_gradebook(course: Course, target: Path, *, grades: bool = True) -> str:
    """Copy the course's gradebook to a file; returns the file's URL.

    grades  whether to copy the students and their grades, too, beside the released lessons

    Copies table by table. Raises StepFailed.
    """
    engine = create_engine(f"sqlite:///{target}")
    Base.metadata.create_all(engine)
    with course.gradebook() as gradebook, engine.begin() as copy:
        for table in Base.metadata.sorted_tables:
            if table.name in ABOUT_STUDENTS and not grades:
                continue
            rows = gradebook.db.execute(select(table).execution_options(yield_per=AT_ONCE)).mappings()
            for some in rows.partitions():
                copy.execute(insert(table), [dict(row) for row in some])
    engine.dispose()
    return str(engine.url)


def _link_or_copy(source: str, target: str) -> None:
    """Hard-link a file if possible, since the files are large and never written to."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target)
