"""The learner's session in a notebook: lesson, names and checked answers."""

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

from ..report import POINTS, STEP, Report, shell
from . import catalog
from .captured_output import CapturedOutput
from .check_run import HungFunctions
from .hint_state import HintState
from .name_guard import restore_course_names
from .saved_progress import ProgressStore, open_store
from .written_answer import register_answer_magic


@dataclass
class Session:
    """State of the learner's session in this notebook.

    lesson  the current lesson; None if none has started
    names   namespace of the learner's functions
    hints   how many hints have been shown
    hung    answers that hung
    prints  exercise -> output of its last check
    last    exercise -> the answer checked last, and its report
    store   progress on all exercises, also from other sessions
    file    the notebook's name, if the learner gave it to `hand_in`
    """

    lesson: str | None = None
    names: dict[str, Any] = field(default_factory=dict)
    hints: HintState = field(default_factory=HintState)
    hung: HungFunctions = field(default_factory=HungFunctions)
    prints: dict[str, CapturedOutput] = field(default_factory=dict)
    last: dict[str, tuple[Any, Report]] = field(default_factory=dict)
    store: ProgressStore = field(default_factory=open_store)
    file: str = ""


current = Session()


def begin(lesson: str) -> None:
    """Start a lesson, e.g. `begin("02_softmax")`.

    Loads its examples and hints, defines a placeholder for every exercise that is not written yet, so that the
    notebook runs from top to bottom, and registers `%%answer` for answers in prose. It limits torch to one thread,
    unless OMP_NUM_THREADS is set: a lesson's tensors are small, and on a busy machine threads wait for each other.

    Raises ValueError for an unknown lesson, and FileNotFoundError if the course is installed without its examples.
    """
    if lesson not in catalog.lessons():
        raise ValueError(
            f"Unknown lesson {lesson!r}. Available: {', '.join(catalog.lessons())}. If the lesson came with a file "
            f"{lesson}{catalog.ENDING}, put it next to the notebook."
        )
    tasks = catalog.tasks_of(lesson)
    ipython, first = shell(), current.lesson is None
    names = ipython.user_ns if ipython else inspect.currentframe().f_back.f_globals  # type: ignore[union-attr]
    current.lesson, current.names = lesson, names
    for name in tasks:
        names.setdefault(name, placeholder(name))
    restore_course_names()
    if ipython:
        register_answer_magic(ipython, lesson)
    if ipython and first:  # only once: freezing later would keep figures and trained models
        with suppress(ImportError):  # torch imports it in the first check of devices, which takes most of a second
            import_module("torch._dynamo")
        gc.freeze()  # imported objects stay: keep collections, 0.2 s each, from scanning them during a check
    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(1)


def lesson_of(name: str) -> str:
    """Return the lesson of an exercise. Raises LookupError."""
    for lesson in [current.lesson] if current.lesson else catalog.lessons():
        if name in catalog.tasks_of(lesson):
            return lesson
    where = f"lesson {current.lesson}" if current.lesson else "any lesson"
    raise LookupError(f"{name!r} is not an exercise of {where}; pass the function itself, e.g. check(softmax)")


def name_of(f: Any) -> str:
    """Return the exercise that `f` answers: a name bound to it, else its own name."""
    try:
        own = f if type(f) is str else str(getattr(f, "__name__", type(f).__name__))
    except Exception:
        own = type(f).__name__
    exercises = catalog.tasks_of(current.lesson) if current.lesson else {}
    bound = [name for name in exercises if name in current.names and current.names[name] is f]
    return own if own in bound or not bound else bound[0]


def exercise_data(name: str) -> dict[str, Any]:
    """Return the catalog's data of an exercise in this session's lesson. Raises LookupError."""
    return catalog.tasks_of(lesson_of(name))[name]


def unit_of(name: str) -> str:
    """The unit of what a task earns; `STEP` for a step, which has no points. Raises LookupError."""
    return STEP if name in catalog.steps_of(lesson_of(name)) else POINTS


def placeholder(name: str) -> Callable[..., Any]:
    """A function for an exercise that is not written yet."""

    def missing(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{name} is not written yet")

    missing.__name__ = missing.__qualname__ = name
    return missing
