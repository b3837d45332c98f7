"""Follow-through: one mistake costs once, as in the grade.

Where an answer calls an earlier exercise of the lesson that does not pass, a right function is put in its place, and
what the answer does with it counts.

Does not cover: when `check` follows through (`course/notebook/check.py`), the functions that are put in
(`course/models/right_functions`), how the grade does it (`grading/grader/grade_exercise.py`).
"""

from __future__ import annotations

import dis
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from inspect import getattr_static
from types import CellType, CodeType, FunctionType, MethodType
from typing import Any

import torch
from torch import nn

from ..check_data import CaseResults, case_of
from ..harness.errors import is_theirs
from ..harness.forbidden_calls import trusting
from ..models import right_functions
from . import catalog

GLOBAL = ("LOAD_GLOBAL", "LOAD_NAME")


def earlier_called(f: Any, name: str, lesson: str, names: Mapping[str, Any]) -> list[str]:
    """The tasks that may come before `name` and that `f` calls, directly or through other functions, in order.

    Before a step: the steps above it, and all exercises. Before an exercise: the exercises above it, and all steps.
    """
    steps, exercises = list(catalog.steps_of(lesson)), list(catalog.exercises_of(lesson))
    used = globals_used([f], names)
    before = steps[: steps.index(name)] + exercises if name in steps else steps + exercises[: exercises.index(name)]
    return [earlier for earlier in before if earlier in used]


def right_function_for(lesson: str, name: str, data: Mapping[str, Any]) -> Callable[..., Any] | None:
    """The package's right function for an exercise or a step, or None: a course may have its own under these names.

    data  the exercise's, with its visible examples, which the function must pass
    """
    right = right_functions.right_function(lesson, name) or step_function(lesson, name)
    if right is None:
        return None
    results = CaseResults()
    with trusting([right]):
        results.run_cases([case_of(record) for record in data["cases"]], {name: right})
    return right if results.right else None


def step_function(lesson: str, name: str) -> Callable[..., Any] | None:
    """The course's own answer to a step; None if `name` is not a step, or the package has no answer to it."""
    code = catalog.step_answer(lesson, name)
    if not code:
        return None
    # These names mark the code as the course's: it is recognised in an answer, and its errors are not the learner's
    names: dict[str, Any] = {"__name__": f"{right_functions.__name__}.steps", "math": math}
    names |= {"torch": torch, "nn": nn, "F": nn.functional}
    exec(compile(code, str(right_functions.__file__), "exec", dont_inherit=True), names)  # noqa: S102 - the package's own
    answer: Callable[..., Any] = names[name]
    return answer


@contextmanager
def replaced(names: dict[str, Any], others: Mapping[str, Any]) -> Iterator[None]:
    """Bind these names to others in this block."""
    before = {name: names[name] for name in others if name in names}
    names.update(others)
    try:
        yield
    finally:
        for name in others:
            names.pop(name, None)  # the call may have deleted it
        names.update(before)


def globals_used(values: Iterable[Any], names: Mapping[str, Any]) -> set[str]:
    """Global names that the learner's code in these values loads, and in what these names stand for."""
    used, seen, todo = set[str](), set[int](), list(values)
    while todo:
        value = todo.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if not isinstance(value, CodeType):
            todo += _parts(value, str(names.get("__name__")))
        elif is_theirs(value.co_filename):
            loaded = {i.argval for i in dis.get_instructions(value) if i.opname in GLOBAL}
            used |= loaded
            todo += [names[name] for name in loaded if name in names]
            todo += [part for part in value.co_consts if isinstance(part, CodeType)]
    return used


def _parts(value: Any, module: str) -> list[Any]:
    """The parts of a function, method, partial, or class or object of this module that may hold code."""
    if isinstance(value, FunctionType):
        cells = [cell for cell in value.__closure__ or () if cell != CellType()]  # an empty cell has no contents
        return [value.__code__, *(cell.cell_contents for cell in cells), vars(value).get("__wrapped__")]
    if isinstance(value, (MethodType, classmethod, staticmethod)):
        return [value.__func__]
    if isinstance(value, partial):
        return [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, property):
        return [value.fget]
    kind = value if isinstance(value, type) else type(value)
    members = [*vars(kind).values(), *kind.__bases__] if kind.__module__ == module else []
    return [getattr_static(value, "__wrapped__", None), *members]
