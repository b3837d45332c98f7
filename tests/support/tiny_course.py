"""Texts of tiny lessons, for tests of what happens to a class and not of what is taught (see `course_builder`)."""

from __future__ import annotations

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
#
# *Difficulty ★☆☆, importance ●○○, about 1 minute.*

# %% tags=["code"]
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

{name} = exercise("{name}", see="To {name}")


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
RIGHT = {  # exercise -> its solution, and another right answer
    "double": ("(2 * x)", "x + x"),
    "halve": ("(x / 2)", "x - x * 0.5"),
}
