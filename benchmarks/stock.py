"""The same course for nbgrader alone: the same checks, as asserts in grade cells.

Every hidden case of `grader_tests` is written into the grade cell, with a correct answer beside it; torch.testing
compares the two in the student's kernel, within our grader's tolerances. An exercise earns all of its points or none,
as a cell of asserts does.
"""

from __future__ import annotations

import base64
import shutil
from pathlib import Path
from typing import Any

import nbformat
import torch

from course.harness.compare import leaves
from course.harness.serialization import pack
from course.harness.tolerance import Tolerance, allowed_error
from grading.exercises.exercise import Exercise
from grading.exercises.lesson import load_lesson
from grading.grader.references import PreparedCase, prepare
from grading.notebooks.cells import BEGIN_HIDDEN, CHECK, END_HIDDEN, exercise_of, grade_id

CONFIG = """
c = get_config()
c.CourseDirectory.course_id = "stock"
c.ExecutePreprocessor.timeout = {seconds}
"""
ASSERTS = """
import base64, torch
from course.harness.serialization import unpack
from course.harness.program import Program
from course.harness.runner import observe

{oracle}

def _defined(gradient, right):
    return torch.where(right.isfinite(), gradient, torch.zeros_like(gradient))

for _blob in {blobs!r}:
    _case = unpack(base64.b64decode(_blob))
    _program = Program(**_case["program"])
    _seen = observe(_program, {names})
    _right = observe(_program, {{**{names}, {name!r}: _oracle}})
    if _right.raised:
        assert _seen.raised and _right.raised["type"] in _seen.raised["bases"]
        continue
    assert _seen.raised is None, _seen.raised
    assert not _seen.used, _seen.used
    assert not set(_seen.changed) & set(_case["fixed"]), _seen.changed
    torch.testing.assert_close(_seen.values, _right.values, rtol=1e-6, atol=_case["far"])
    for _name, _far in _case["gradients"].items():
        _slope = _right.gradients[_name]
        torch.testing.assert_close(
            _defined(_seen.gradients[_name], _slope), _defined(_slope, _slope), rtol=1e-6, atol=_far
        )
"""


def make_course(root: Path, ours: Path, lesson: str, *, seconds: int = 30, demos: bool = True) -> None:
    """Make a course directory for nbgrader alone from ours, with the lesson built.

    seconds  nbgrader's time limit for a cell
    demos    whether to keep the lesson's demonstration cells
    """
    root.mkdir(parents=True, exist_ok=True)
    (root / "nbgrader_config.py").write_text(CONFIG.format(seconds=seconds).lstrip())
    folder = root / "source" / lesson
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    notebook = nbformat.read(ours / "source" / lesson / f"{lesson}.ipynb", as_version=4)
    exercises = load_lesson(ours / "grader_tests" / lesson).exercises
    notebook.cells = [cell for cell in notebook.cells if demos or "demo" not in cell.metadata.get("tags", [])]
    for cell in notebook.cells:
        if grade_id(cell).startswith(CHECK):
            cell.source = f"{BEGIN_HIDDEN}\n{asserts(exercises[exercise_of(cell)], 'globals()')}\n{END_HIDDEN}"
    nbformat.write(notebook, folder / f"{lesson}.ipynb")


def asserts(exercise: Exercise, names: str) -> str:
    """An exercise's cases as code; `names` is an expression for the student's names."""
    plain = [
        _case(p, exercise)
        for p in prepare(exercise, 0)
        if p.case.options.check_with is None and not p.case.options.device_only
    ]
    blobs = [base64.b64encode(pack(case)).decode() for case in plain]
    right = exercise.alternatives[0]
    oracle = f"_names = {{}}\nexec({right.cell!r}, _names)\n_oracle = _names[{right.exercise_name!r}]"
    return ASSERTS.format(oracle=oracle, blobs=blobs, name=exercise.name, names=names)


def _case(prepared: PreparedCase, exercise: Exercise) -> dict[str, Any]:
    """A case as data: its program, and tolerances to the oracle in its own dtype.

    Both results are off the exact one, so the grader's tolerance is doubled.
    """
    reference, program = prepared.reference, prepared.program(exercise.forbidden)

    def room(exact: Any, native: Any) -> float:
        if not isinstance(exact, torch.Tensor) or not exact.is_floating_point():
            return 0.0
        tolerance = reference.options.tolerance or Tolerance.of(native.dtype)
        return 2.0 * float(allowed_error(exact, native, tolerance).nan_to_num(0.0, 0.0, 0.0).max())

    far = [
        room(exact, native)
        for name, value in reference.exact.values.items()
        for (_, exact), (_, native) in zip(leaves(value), leaves(reference.native.values[name]), strict=True)
    ]
    slopes = {
        name: room(exact, (reference.native.gradients or {})[name])
        for name, exact in (reference.exact.gradients or {}).items()
        if exact is not None and bool(exact.ne(0).any())
    }
    fixed = sorted(set(program.inputs) - reference.options.may_mutate)
    return {"program": program.to_plain(), "far": max(far, default=0.0), "gradients": slopes, "fixed": fixed}
