"""The same course as a teacher would grade it with nbgrader alone: the same checks, as asserts in the student's kernel.

Every hidden case of `grader_tests` is written into the grade cell, with a right answer beside it, and compared by
torch.testing; an exercise earns all of its points or none, as a cell of asserts does.
"""

from __future__ import annotations

import base64
import shutil
from pathlib import Path

import nbformat

from course.packing import pack
from grading.build import grade_id
from grading.judge.examine import prepare
from grading.judge.exercise import Exercise, load_lesson

CONFIG = """
c = get_config()
c.CourseDirectory.course_id = "stock"
c.ExecutePreprocessor.timeout = {seconds}
"""
ASSERTS = '''
import base64, torch
from course.packing import unpack
from course.probe import Program, run

{oracle}

for _blob in {blobs!r}:
    _program = Program(**unpack(base64.b64decode(_blob)))
    _seen = run(_program, globals())
    _right = run(_program, {{**globals(), {name!r}: _oracle}})
    if _right.raised:
        assert _seen.raised and _right.raised["type"] in _seen.raised["bases"]
        continue
    assert _seen.raised is None, _seen.raised
    assert not _seen.used, _seen.used
    torch.testing.assert_close(_seen.values, _right.values, rtol=1e-4, atol=1e-5)
    if _right.gradients:
        torch.testing.assert_close(_seen.gradients, _right.gradients, rtol=1e-4, atol=1e-5, equal_nan=True)
'''


def make_course(root: Path, ours: Path, lesson: str, seconds: int = 30) -> None:
    """A course directory for nbgrader alone, with one lesson in source/, made from one of ours in which that is built.

    seconds: nbgrader's time limit for a cell.
    """
    root.mkdir(parents=True, exist_ok=True)
    (root / "nbgrader_config.py").write_text(CONFIG.format(seconds=seconds).lstrip())
    folder = root / "source" / lesson
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    notebook = nbformat.read(ours / "source" / lesson / f"{lesson}.ipynb", as_version=4)
    exercises = load_lesson(ours / "grader_tests" / f"{lesson}.py").exercises
    for cell in notebook.cells:
        name = grade_id(cell).removeprefix("check_")
        if grade_id(cell).startswith("check_"):
            cell.source = f"### BEGIN HIDDEN TESTS\n{_asserts(exercises[name])}\n### END HIDDEN TESTS"
    nbformat.write(notebook, folder / f"{lesson}.ipynb")


def _asserts(exercise: Exercise) -> str:
    programs = [p.program(exercise).to_plain() for p in prepare(exercise, 0) if p.case.holds is None]
    blobs = [base64.b64encode(pack(plain)).decode() for plain in programs]
    lines = exercise.stand_in.splitlines()
    oracle = "\n".join([*lines[:-1], f"_oracle = {exercise.answer.__name__}"])
    return ASSERTS.format(oracle=oracle, blobs=blobs, name=exercise.name)
