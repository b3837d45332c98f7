"""Write the files that a lesson's notebook needs beside it.

They are needed where a course differs from the student's package.

    outline.json                   the course's lessons and points, if its course.toml changes them
    NN_lesson.examples             points, hints and visible examples, if the package does not have the lesson unchanged
    NN_lesson/<exercise>.practice  practice cases of exercises that the course added or changed
    NN_lesson.questions            rubrics and model answers of written questions that have no points
    NN_lesson.predictions          answers to the calls of `predict`
    NN_lesson.experiment           what the finding of the lesson's experiment is compared with
    NN_lesson.stubs                the unanswered cells, which the button *Reset* puts back
    NN_lesson.given                which cells came with the lesson, as hashes of their code

In a checkout it also updates the package's own data, and solutions/, which the open release has.
"""

from __future__ import annotations

from pathlib import Path

from course import outline
from course.check_data import ENDING as PRACTICE
from course.harness.serialization import unpack
from course.notebook import catalog

from ..course_dir.course_file import load_course_file
from ..course_dir.fingerprints import shipped_fingerprints
from ..course_dir.lesson_change import LessonChange
from ..course_dir.lesson_marks import points_asked
from ..course_dir.lessons import COURSE_FILE, list_lessons
from ..exercises.lesson import load_lesson
from .adapt_notebook import adapt_notebook
from .check_data_files import begins_lesson, export, export_fingerprints, key_of, write
from .given_cells import given_data
from .lesson_text import read_lesson
from .predictions import experiment_data, prediction_data
from .published_solutions import solutions_of
from .questions import question_data
from .stubs import stub_data

NOTHING = b"{}\n"


def write_beside(root: Path, name: str) -> bool:
    """Write the check data that the package lacks into the lesson's folder.

    nbgrader releases the notebook with these files. Deletes files that are no longer needed. Returns whether a file
    changed. Raises BuildError.
    """
    folder, tests = root / "source" / name, root / "grader_tests" / name
    wanted = _not_in_the_package(root, name)
    changed = bool(wanted) and export(tests, folder, wanted)
    kept = {folder / f"{name}{catalog.ENDING}"} if wanted else set()
    kept |= {folder / name / f"{exercise}{PRACTICE}" for exercise in wanted}
    for file in {*folder.glob(f"*{catalog.ENDING}"), *folder.glob(f"*/*{PRACTICE}")} - kept:
        file.unlink()
        changed = True
    told = course_outline(root)
    changed = _write_or_delete(folder / outline.FILE, told.to_json().encode() if told else b"") or changed
    if (root / "course").is_dir():
        for solutions, content in solutions_of(root, name).items():
            changed = _write_or_delete(root / "solutions" / solutions, content) or changed
    tests, change = root / "grader_tests" / name, load_course_file(root).change(name)
    predictions = prediction_data(tests)
    for ending, own, asked in (
        (catalog.QUESTIONS, question_data(tests, LessonChange()), question_data(tests, change)),
        (catalog.PREDICTIONS, predictions, predictions),
        (catalog.EXPERIMENTS, experiment := experiment_data(tests), experiment),
        (catalog.STUBS, stubs := stub_data(root, name), stubs),
        (catalog.GIVEN, _given(root, name, LessonChange()), _given(root, name, change)),
    ):
        changed = _write_json(root, f"{name}{ending}", root / "source" / name, own, asked) or changed
    return changed


def _given(root: Path, name: str, change: LessonChange) -> bytes:
    notebook, lesson = read_lesson(root / "source" / f"{name}.py"), load_lesson(root / "grader_tests" / name)
    adapt_notebook(notebook, change)
    return given_data(notebook, name, lesson.steps.keys() | lesson.challenges.keys())


def _write_json(root: Path, file: str, folder: Path, own: bytes, asked: bytes) -> bool:
    """Write the data that the package lacks beside the notebook.

    In a checkout this also updates the package's own file. Returns whether a file changed.

    own    the data of the lesson as it is; b"" for none
    asked  the data of the lesson as the course changes it
    """
    shipped, changed = _package_examples(root) / file, False
    if (root / "course").is_dir():
        changed = _write_or_delete(shipped, own)
    same = (asked or NOTHING) == (shipped.read_bytes() if shipped.is_file() else NOTHING)
    return _write_or_delete(folder / file, b"" if same else asked or NOTHING) or changed


def _write_or_delete(path: Path, content: bytes) -> bool:
    """Write a file, or delete it if it would be empty.

    Returns whether anything changed.
    """
    if content:
        return write(path, content)
    there = path.is_file()
    path.unlink(missing_ok=True)
    return there


def course_outline(root: Path) -> outline.Outline | None:
    """The outline of the course, if it has a course.toml and asks something else than the package; else None."""
    if not (root / COURSE_FILE).exists():
        return None
    course = load_course_file(root)
    lessons = {name: points_asked(root, name, course.change(name)) for name in list_lessons(root)}
    package = {
        path.stem: {name: exercise["points"] for name, exercise in unpack(path.read_bytes())["exercises"].items()}
        for path in sorted(_package_examples(root).glob(f"*{catalog.ENDING}"))
    }
    return None if list(lessons.items()) == list(package.items()) else outline.Outline(course.title, lessons)


def _package_examples(root: Path) -> Path:
    """The folder with the package's check data: in a checkout, the checkout's own."""
    own = root / "course" / "examples"
    return own if own.is_dir() else catalog.EXAMPLES


def _not_in_the_package(root: Path, name: str) -> list[str]:
    """Exercises whose check data the student's package lacks.

    "" means the lesson's examples.
    """
    if (root / "course").is_dir() or not begins_lesson(root, name):
        return []
    tests = root / "grader_tests" / name
    known, current = shipped_fingerprints(), export_fingerprints(tests, catalog.EXAMPLES)
    other = [exercise for exercise, made in current.items() if known.get(key_of(tests, exercise)) != made]
    return list(dict.fromkeys(["", *other])) if other else []
