"""Build course directories for tests: lessons, configuration, seed, release, submissions and grades.

    build_course(root)                                          # two tiny lessons, nothing released
    build_course(root, release=True)                            # both released
    build_course(root, release=True, submissions={"ada": {}}, grade=True)
    build_course(root, ["02_softmax"], release=True)            # a lesson of this repository
    build_course(root, [TWO_EXERCISES], seed=SEED, config="c.FeedbackExporter.lesson_text = True")

Every test that needs a course starts from `build_course` or from a fixture in `course_fixtures`, which shares what it
builds between tests.
"""

from __future__ import annotations

import json
import os
import shutil
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from rich.console import Console

from grading.authoring.build import build_lesson
from grading.coordinator.converters import generate_assignment
from grading.coordinator.demo_class import correct_answers, hand_in, write_answers
from grading.coordinator.grade_class import grade_class
from grading.course import Course
from grading.course_dir import seeds
from grading.course_dir.paths import CONFIG
from grading.exercises.lesson import load_lesson

from . import acting_lesson, tiny_course, two_exercise_course
from .repository import LESSONS, ROOT


@dataclass(frozen=True)
class LessonFiles:
    """One lesson as its author writes it.

    source     text for source/NAME.py, or a notebook for source/NAME/NAME.ipynb
    exercises  name -> text of contract.py, and of alternatives.py and mistakes.py if there are any
    others     file in the lesson's folder of grader_tests -> its text, such as that of __init__.py
    """

    name: str
    source: str | NotebookNode
    exercises: Mapping[str, tuple[str, ...]]
    others: Mapping[str, str] = field(default_factory=dict)

    def write(self, root: Path) -> None:
        folder = root / "source"
        if isinstance(self.source, str):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{self.name}.py").write_text(self.source)
        else:
            (folder / self.name).mkdir(parents=True, exist_ok=True)
            nbformat.write(self.source, folder / self.name / f"{self.name}.ipynb")
        folder = write_grader_tests(root / "grader_tests" / self.name, self.exercises)
        for file, text in self.others.items():
            (folder / file).write_text(text)


def tiny_lesson(name: str) -> LessonFiles:
    """A lesson with one exercise, "NN_double" or "NN_halve"; it takes a moment to grade."""
    exercise = name[3:]
    right, other = tiny_course.RIGHT[exercise]
    marks = {"schema_version": 3, "task": False}
    solution = {**marks, "grade": False, "grade_id": exercise, "locked": False, "solution": True}
    grade = {**marks, "grade": True, "grade_id": f"check_{exercise}", "locked": True, "points": 5, "solution": False}
    values = {
        "name": exercise,
        "right": right,
        "other": other,
        "solution": json.dumps(solution),
        "grade": json.dumps(grade),
    }
    texts = (tiny_course.CONTRACT, tiny_course.ALTERNATIVES, tiny_course.MISTAKES)
    return LessonFiles(
        name,
        tiny_course.TEXT.format(**values).lstrip(),
        {exercise: tuple(text.format(**values) for text in texts)},
    )


TINY_LESSONS = ["01_double", "02_halve"]
TINY = [tiny_lesson(name) for name in TINY_LESSONS]
ACTING = LessonFiles(acting_lesson.LESSON, acting_lesson.TEXT.lstrip(), acting_lesson.EXERCISES, acting_lesson.OTHERS)
TWO_EXERCISES = LessonFiles(
    two_exercise_course.LESSON, two_exercise_course.lesson_notebook(), two_exercise_course.GRADER_TESTS
)


def build_course(
    root: Path,
    lessons: Sequence[LessonFiles | str] = TINY,
    *,
    config: str = "",
    seed: str = "",
    release: bool | Sequence[str] = False,
    submissions: Mapping[str, Mapping[str, str]] | None = None,
    grade: bool = False,
) -> Path:
    """Make a course directory, and return it.

    lessons      files of a lesson, or the name of one of this repository's
    config       lines added to the repository's nbgrader_config.py
    seed         the course's secret seed (default: the course draws one when it is released)
    release      whether to build and release the lessons, or which of them
    submissions  student -> answers that replace right ones, in the first lesson that is released
    grade        whether to grade that lesson; every submission must get a grade
    """
    root.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / CONFIG, root)
    add_config(root, config)
    for files in lessons:
        if isinstance(files, LessonFiles):
            files.write(root)
    if names := {files for files in lessons if isinstance(files, str)}:
        _copy_lessons(root, names)
    if seed:
        (root / seeds.FILE).write_text(seed)
    every = [files if isinstance(files, str) else files.name for files in lessons]
    released = every if release is True else list(release or ())
    for name in released:
        build_and_release(root, name)
    if submissions:
        submit_class(root, released[0], submissions)
    if grade:
        grade_lesson(root, released[0])
    return root


def build_and_release(root: Path, lesson: str) -> None:
    """Release a lesson as `grading release` does."""
    if (root / "source" / f"{lesson}.py").exists():  # not where the author wrote a notebook
        build_lesson(root, lesson)
    generate_assignment(Course(root), lesson)


def add_config(root: Path, lines: str) -> None:
    """Add lines to the course's nbgrader_config.py."""
    if lines:
        file = root / CONFIG
        file.write_text(f"{file.read_text()}\n{lines}\n")


def write_grader_tests(folder: Path, exercises: Mapping[str, tuple[str, ...]]) -> Path:
    """Write one lesson's grader tests; `exercises` as in `LessonFiles`.

    Files with the same text have the same time, by which judges know that they have read them.
    """
    for name, texts in exercises.items():
        (folder / name).mkdir(parents=True)
        for file, text in zip_longest(("contract", "alternatives", "mistakes"), texts, fillvalue=""):
            _write_with_time(folder / name / f"{file}.py", text.lstrip("\n"))
    _write_with_time(folder / "__init__.py", f"EXERCISES = {tuple(exercises)!r}\n")
    return folder


def _write_with_time(file: Path, text: str) -> None:
    file.write_text(text)
    seconds = 10**9 + zlib.crc32(text.encode()) % 10**8  # in the years after 2001
    os.utime(file, (seconds, seconds))


def released_notebook(root: Path, lesson: str) -> NotebookNode:
    return nbformat.read(root / "release" / lesson / f"{lesson}.ipynb", as_version=4)


def solved_notebook(root: Path, lesson: str, **answers: str) -> NotebookNode:
    """The released notebook with a right answer in every exercise, except those given."""
    known = correct_answers(load_lesson(root / "grader_tests" / lesson), 0)
    return write_answers(released_notebook(root, lesson), known | answers)


def submit(root: Path, lesson: str, student: str, **answers: str) -> None:
    """Hand in the solved notebook for a student; `answers` replace right ones."""
    hand_in(root, lesson, student, solved_notebook(root, lesson, **answers))


def submit_class(root: Path, lesson: str, submissions: Mapping[str, Mapping[str, str]]) -> None:
    """Hand in for several students: student -> answers that replace right ones."""
    for student, answers in submissions.items():
        submit(root, lesson, student, **answers)


def grade_lesson(root: Path, lesson: str) -> None:
    """Grade what was handed in; fails if a submission gets no grade."""
    assert not grade_class(Course(root), [lesson], Console(quiet=True)).failed


def _copy_lessons(root: Path, names: set[str]) -> None:
    """Copy lessons of this repository, with what their grader tests share."""
    (root / "source").mkdir(exist_ok=True)
    for name in names:
        shutil.copy(ROOT / "source" / f"{name}.py", root / "source")
    ignored = shutil.ignore_patterns("__pycache__", *(set(LESSONS) - names))
    shutil.copytree(ROOT / "grader_tests", root / "grader_tests", ignore=ignored, dirs_exist_ok=True)
