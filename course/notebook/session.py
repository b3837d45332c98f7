"""The learner's session in a notebook: the lesson that has begun, its names, and what was checked so far."""

from __future__ import annotations

import gc
import inspect
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import torch

from ..report import Report, shell
from . import catalog
from .captured_output import CapturedOutput
from .check_run import HungFunctions
from .hint_state import HintState
from .name_guard import restore_course_names
from .saved_progress import ProgressStore, open_store


@dataclass
class Session:
    """What is known of the learner's work in this notebook.

    lesson   the one that has begun; None: none has
    names    where the learner's functions are bound
    hints    how far each exercise's have been shown
    endless  answers that never ended
    prints   exercise -> what was printed in its last check
    last     exercise -> what was checked last, and the report on it
    memory   what is known of all exercises, of other sessions too
    """

    lesson: str | None = None
    names: dict[str, Any] = field(default_factory=dict)
    hints: HintState = field(default_factory=HintState)
    hung: HungFunctions = field(default_factory=HungFunctions)
    prints: dict[str, CapturedOutput] = field(default_factory=dict)
    last: dict[str, tuple[Any, Report]] = field(default_factory=dict)
    store: ProgressStore = field(default_factory=open_store)


current = Session()


def begin(lesson: str) -> None:
    """Start a lesson, e.g. `begin("02_softmax")`: its examples and hints are loaded, and every exercise that is not
    written yet gets a placeholder, so that the notebook runs from top to bottom whatever is missing. From here on torch
    computes on one thread, unless OMP_NUM_THREADS says on how many: a lesson's tensors are small, and on a busy machine
    threads wait for each other.

    Raises ValueError for a lesson that does not exist, with the names of those that do, and FileNotFoundError where
    the course was installed without its examples.
    """
    if lesson not in catalog.lessons():
        raise ValueError(
            f"Unknown lesson {lesson!r}. Available: {', '.join(catalog.lessons())}. If the lesson came with a file "
            f"{lesson}{catalog.ENDING}, put it next to the notebook."
        )
    exercises = catalog.exercises_and_challenges(lesson)
    ipython, first = shell(), current.lesson is None
    names = ipython.user_ns if ipython else inspect.currentframe().f_back.f_globals  # type: ignore[union-attr]
    current.lesson, current.names = lesson, names
    for name in exercises:
        names.setdefault(name, _placeholder(name))
    restore_course_names()
    if ipython and first:  # not again, when what was drawn and trained is there, which is not to stay
        with suppress(ImportError):  # what torch would import in the first check of devices, for most of a second
            import_module("torch._dynamo")
        gc.freeze()  # what was imported stays: no collection, in the middle of a check, looks through it for 0.2 s
    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(1)


def lesson_of(name: str) -> str:
    """The lesson whose exercise it is. Raises LookupError."""
    for lesson in [current.lesson] if current.lesson else catalog.lessons():
        if name in catalog.exercises_and_challenges(lesson):
            return lesson
    where = f"lesson {current.lesson}" if current.lesson else "any lesson"
    raise LookupError(f"{name!r} is not an exercise of {where}; pass the function itself, e.g. check(softmax)")


def name_of(f: Any) -> str:
    """The exercise that `f` answers: one whose name is bound to it, which may be any object, else its own name."""
    try:
        own = f if type(f) is str else str(getattr(f, "__name__", type(f).__name__))
    except Exception:
        own = type(f).__name__
    exercises = catalog.exercises_and_challenges(current.lesson) if current.lesson else {}
    bound = [name for name in exercises if name in current.names and current.names[name] is f]
    return own if own in bound or not bound else bound[0]


def exercise_data(name: str) -> dict[str, Any]:
    """What the catalog has of an exercise of this session's lesson. Raises LookupError."""
    return catalog.exercises_and_challenges(lesson_of(name))[name]


def _placeholder(name: str) -> Callable[..., Any]:
    def missing(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{name} is not written yet")

    missing.__name__ = missing.__qualname__ = name
    return missing
