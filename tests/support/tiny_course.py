"""A course of tiny lessons, for tests of what happens to a class rather than of what is taught."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path

ROOT = Path(__file__).parents[2]
LESSONS = ["01_double", "02_halve"]

TEXT = """
# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # To {name}

# %%
def check(f):
    return 0.0

# %% nbgrader={solution}
def {name}(x):
    ### BEGIN SOLUTION
    return {right}
    ### END SOLUTION

# %% nbgrader={grade}
check({name})
### BEGIN HIDDEN TESTS
from grading.judge import grade
grade({name})
### END HIDDEN TESTS
"""
CONTRACT = """
from grading.exercises.exercise import call, exercise

{name} = exercise("{name}", points=5, see="To {name}")


@{name}.oracle
def oracle(x):
    return {right}


@{name}.criterion("values", points=3)
def _(draw):
    yield call(draw.normal(3, 5))


@{name}.criterion("gradients", points=2)
def _(draw):
    yield call(draw.normal(4)).with_gradients()
"""
ALTERNATIVES = """
# %% by_a_sum
def {name}(x):
    return {other}


# %% by_name
def {name}(x):
    result = {right}
    return result
"""
MISTAKES = """
from .contract import {name}

right = {name}.alternative("by_name")

{name}.mistake("squares", loses="values").full_code('''
def {name}(x):
    return x * x
''').feedback("That is the *square*.")
right.mistake("loses_the_gradient", {{"return result": "return result.detach()"}}, loses="gradients").feedback(
    "The gradient is lost."
)
"""
RIGHT = {
    "double": ("(2 * x)", "x + x"),
    "halve": ("(x / 2)", "x - x * 0.5"),
    "softmax": ("x.softmax(-1)", "x.exp() / x.exp().sum(-1, keepdim=True)"),
}


def make_course(root: Path, lessons: Sequence[str] = LESSONS) -> Path:
    """A course directory with lessons as texts, two or those named: nothing built, nothing released, no gradebook."""
    (root / "source").mkdir(parents=True)
    (root / "grader_tests").mkdir()
    shutil.copy(ROOT / "nbgrader_config.py", root)
    for lesson in lessons:
        name = lesson[3:]
        right, other = RIGHT[name]
        marks = {"schema_version": 3, "task": False}
        solution = {**marks, "grade": False, "grade_id": name, "locked": False, "solution": True}
        grade = {**marks, "grade": True, "grade_id": f"check_{name}", "locked": True, "points": 5, "solution": False}
        filled = {
            "name": name,
            "right": right,
            "other": other,
            "solution": json.dumps(solution),
            "grade": json.dumps(grade),
        }
        (root / "source" / f"{lesson}.py").write_text(TEXT.format(**filled).lstrip())
        described = (text.format(**filled) for text in (CONTRACT, ALTERNATIVES, MISTAKES))
        write_lesson(root / "grader_tests" / lesson, {name: tuple(described)})
    return root


def write_lesson(folder: Path, exercises: Mapping[str, tuple[str, ...]]) -> Path:
    """Write grader tests: for each exercise its contract, and its alternatives and mistakes where there are any."""
    for name, texts in exercises.items():
        (folder / name).mkdir(parents=True)
        for file, text in zip_longest(("contract", "alternatives", "mistakes"), texts, fillvalue=""):
            (folder / name / f"{file}.py").write_text(text.lstrip("\n"))
    (folder / "__init__.py").write_text(f"EXERCISES = {tuple(exercises)!r}\n")
    return folder
