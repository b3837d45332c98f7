"""Names of version 0.1 in `grader_tests/`, accepted until version 0.3.

They cause a DeprecationWarning. `python -m grading.exercises.codemod grader_tests` rewrites them by the tables here.

Does not cover: names of checkers (`course.checkers.registry`), modules that moved (`grading.old_names`).
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any, ParamSpec, TypeVar

from ..old_names import RENAMED

#: Names in `grading.exercises.exercise`: old -> new
MODULE = RENAMED["grading.judge.exercise"]
#: Attributes by class: old -> new
ATTRIBUTES = {
    "Answer": {"define": "exec_in", "made": "load", "subject": "exercise_name"},
    "Case": {
        "accepted": "does_not_raise",
        "changing": "may_mutate",
        "described": "label",
        "holding": "check_with",
        "in_its_own_dtype": "exact_in_float32",
        "lasting": "timeout",
        "on_another_device": "device_only",
        "raising": "raises",
        "unchanged": "does_not_mutate",
        "within": "tolerance",
    },
    "Exercise": {"base": "reference_answer", "bases": "reference_answers", "parts": "result_names"},
    "Lesson": {"known": "all_exercises"},
    "Mistake": {
        "each": "all_forms",
        "of": "base",
        "others": "variants",
        "says": "feedback",
        "shows": "loses",
        "whole": "full_code",
    },
}
#: Keyword arguments by function: old -> new; "" for one that is ignored
KEYWORDS = {
    "criterion": {"form": "check_types"},
    "example": {"form": "check_types"},
    "exercise": {"parts": "result_names", "points": ""},
    "mistake": {"shows": "loses"},
    "step": {"stars": ""},
    "with_gradients": {"undefined": "nonfinite"},
}

#: Lists in a lesson's `__init__.py`: old -> new
LISTS = {"CHALLENGES": "STEPS"}

Class = TypeVar("Class", bound=type)
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class _OldAttribute:
    """Reads another attribute of the object."""

    def __init__(self, old: str, new: str) -> None:
        self.old, self.new = old, new

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        _warn(f".{self.old}", f".{self.new}")
        return getattr(owner if instance is None else instance, self.new)


def accept_old_names(cls: Class) -> Class:
    """Give a class the attributes in ATTRIBUTES under its name."""
    for old, new in ATTRIBUTES[cls.__name__].items():
        setattr(cls, old, _OldAttribute(old, new))
    return cls


def accept_old_keywords(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Make a function accept the keywords in KEYWORDS under its name."""
    renamed = KEYWORDS[function.__name__]

    @functools.wraps(function)
    def accepting(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        for old in renamed.keys() & kwargs.keys():
            value = kwargs.pop(old)
            if new := renamed[old]:
                kwargs[new] = value
            _warn(f"{old}=", f"{new}=" if new else f"{old} in source/")
        return function(*args, **kwargs)

    return accepting


def listed(lesson: ModuleType, name: str) -> tuple[str, ...]:
    """The names in a list of a lesson's `__init__.py`, also under its old name."""
    for old in (old for old, new in LISTS.items() if new == name and hasattr(lesson, old)):
        _warn(old, name)
        return tuple(getattr(lesson, old))
    return tuple(getattr(lesson, name, ()))


def _warn(old: str, new: str) -> None:
    warnings.warn(
        f"`{old}` is now `{new}`; run `python -m grading.exercises.codemod grader_tests`", DeprecationWarning, 3
    )
