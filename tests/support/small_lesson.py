"""A lesson of two small exercises, written out as graders, and verdicts on answers to them."""

from __future__ import annotations

from grading.grader.local import grade_in_process

from .course_builder import write_grader_tests

DOUBLE = """
from grading.exercises.exercise import call, exercise

double = exercise("double", see="Doubling")

@double.oracle
def double_oracle(x):
    return 2 * x

@double.criterion("values", points=1)
def _(draw):
    yield call(draw.normal(3, 4))
    yield call(draw.normal(5))
    yield call(draw.normal(2, 3, 5))

@double.criterion("gradients", points=1)
def _(draw):
    yield call(draw.normal(3)).with_gradients()
"""
BY_ADDING = """
# %% by_adding
def double(x):
    return x + x
"""
MISTAKES = """
from .contract import double

right = double.reference_answer('''
def double(x):
    return 2 * x
''')
right.mistake("adds_two", {"2 * x": "x + 2"}, loses="values").feedback("You add 2.")
right.mistake("cuts_the_gradient", {"2 * x": "2 * x.detach()"}, loses="gradients").feedback("You cut the gradient.")
"""
QUADRUPLE = """
from grading.exercises.exercise import call, exercise

quadruple = exercise("quadruple", forbidden=("mul",))

@quadruple.oracle
def quadruple_oracle(x):
    return 4 * x

@quadruple.criterion("values", points=3)
def _(draw):
    yield call(draw.normal(3, 4))
"""


def written(folder, **changes):
    """The lesson's folder, with parts of one description replaced."""
    double = {"contract": DOUBLE, "alternatives": BY_ADDING, "mistakes": MISTAKES} | changes
    return write_grader_tests(folder / "01_small", {"double": tuple(double.values()), "quadruple": (QUADRUPLE,)})


def judged(lesson, name, code, **options):
    names = {}
    exec(compile(code, "<answer>", "exec"), names)  # since 3.13 a process of `python -c` has lines of "<string>"
    return grade_in_process(lesson.exercises[name], names, cells=[code], lesson=lesson, **options)
