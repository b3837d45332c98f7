"""A lesson in which the learner acts: one exercise, two predictions, a step and an experiment."""

from __future__ import annotations

import json

LESSON = "01_acts"
MARKS = {"schema_version": 3, "task": False}
SOLUTION = {**MARKS, "grade": False, "grade_id": "double", "locked": False, "solution": True}
GRADE = {**MARKS, "grade": True, "grade_id": "check_double", "locked": True, "points": 20, "solution": False}
TEXT = f"""
# %% [markdown]
# # To act

# %%
import torch
from course import begin, check, hint, predict, progress

begin("{LESSON}", halve=lambda x: x / 2)

# %% [markdown]
# ### Predict: the weights that grow
#
# Add 10 to each of three scores. Which of their weights grow?

# %%
scores = torch.tensor([1.0, 2.0, 3.0])
# The weights that grow: "all", "none" or "the largest"
predict("the weights that grow", ...)

# %% [markdown]
# ### Predict: the shape
#
# What is the shape of `scores[:, None]`?

# %%
predict("the shape", ..., scores[:, None].shape)

# %% [markdown]
# ### Step: halve a number
#
# Write half of `x`: `halve(4.0)` is `2.0`.

# %%
def halve(x):
    raise NotImplementedError


# %% tags=["demo"]
check(halve)

# %%
print("half of 3:", halve(torch.tensor(3.0)))

# %% [markdown]
# ### Exercise 1: double a number

# %% nbgrader={json.dumps(SOLUTION)}
def double(x):
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION

# %% nbgrader={json.dumps(GRADE)}
check(double)
### BEGIN HIDDEN TESTS
from grading.judge import grade
grade(double)
### END HIDDEN TESTS

# %% [markdown]
# ## Your experiment

# %%
finding = ...
check("experiment", finding)
"""
DOUBLE = """
from grading.exercises.exercise import call, exercise

double = exercise("double")


@double.oracle
def oracle(x):
    return 2 * x


double.example("three", call(3.0))


@double.criterion("values", points=20)
def _(draw):
    yield call(draw.normal(3, 5))
"""
HALVE = """
from grading.exercises.exercise import call, step

halve = step("halve", see="Step: halve a number", hints=("What is half of 4?",))


@halve.oracle
def oracle(x):
    return x / 2


halve.example("four", call(4.0))


@halve.criterion("values")
def _(draw):
    yield call(draw.normal(3, 5))
"""
HALVE_MISTAKES = """
from .contract import halve

right = halve.reference_answer('''
def halve(x):
    return x / 2
''')
right.mistake("rounds_down", {"x / 2": "x // 2"}).feedback("You round down. Use `/`, which keeps the fraction.")
right.mistake("subtracts_a_half", {"x / 2": "x - 0.5"}).feedback("You subtract 0.5. Divide by 2.")
"""
NO_MISTAKES = '"""No mistakes."""\n'
NAMES = 'EXERCISES = ("double",)\nSTEPS = ("halve",)\n'
PREDICTIONS = """
["the weights that grow"]
choices = ["all", "none", "the largest"]
answer = "none"
because = "All differences stay the same, so all weights do."
proof = "torch.allclose(torch.softmax(scores + 10, -1), torch.softmax(scores, -1))"

["the weights that grow".wrong]
"all" = "Higher scores look like higher weights, but only differences count."
"the largest" = "The largest score leads by as much as before."

["the shape"]
answer = [3, 1]
because = "`None` adds a dimension of size 1 at the end."
proof = "scores[:, None].shape == (3, 1)"

["the shape".wrong]
"(1, 3)" = "That is `scores[None, :]`, with the new dimension in front."
"""
EXPERIMENT = """
question = "How large is the share of one among two equals?"
kind = "number"
range = [0.4, 0.6]
confirmed = "Two equal scores share equally."
other = "Look at one score with the other one equal to it."
solution = "finding = torch.softmax(torch.ones(2), -1)[0]"

[[wrong]]
range = [0.9, 1.1]
text = "That is the sum of both shares."
solution = "finding = torch.softmax(torch.ones(2), -1).sum()"
"""
EXERCISES = {
    "double": (DOUBLE, "\n# %% by_a_sum\ndef double(x):\n    return x + x\n", NO_MISTAKES),
    "halve": (HALVE, "", HALVE_MISTAKES),
}
OTHERS = {"__init__.py": NAMES, "predictions.toml": PREDICTIONS, "experiment.toml": EXPERIMENT}
