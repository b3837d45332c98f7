"""`begin`: start a lesson in a notebook, and protect the names that the lesson imports."""

from __future__ import annotations

import gc
import inspect
import os
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any

import torch

from ..report import display_html, display_markdown, shell
from . import catalog
from .session import current
from .stand_ins import credit_html, placeholder
from .written_answer import register_answer_magic

NAMES = ("begin", "check", "hint", "solution", "predict", "progress", "figures", "sliders")
_originals: dict[str, Any] = {}


def begin(lesson: str, **right: Callable[..., Any]) -> None:
    """Start a lesson, e.g. `begin("02_softmax")`.

    right  in a lesson of your own: right functions, which its cells call until the learner's pass; the package has
           those of its own lessons

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
    tasks, session = catalog.tasks_of(lesson), current()
    ipython, first = shell(), session.lesson is None
    names = ipython.user_ns if ipython else inspect.currentframe().f_back.f_globals  # type: ignore[union-attr]
    session.start(lesson, names, right)
    for name in tasks:
        names.setdefault(name, placeholder(name))
    if ipython:
        restore_course_names(ipython)
        register_answer_magic(ipython, lesson)
        ipython.events.register("pre_run_cell", _enter_cell)
        ipython.events.register("post_run_cell", _leave_cell)
    if ipython and first:  # only once: freezing later would keep figures and trained models
        with suppress(ImportError):  # torch imports it in the first check of devices, which takes most of a second
            import_module("torch._dynamo")
        gc.freeze()  # imported objects stay: keep collections, 0.2 s each, from scanning them during a check
    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(1)


def _enter_cell(info: Any) -> None:
    current().stand_ins.enter_cell(info.raw_cell)


def _leave_cell(_: object) -> None:
    if said := current().stand_ins.leave_cell():
        display_html(credit_html(said), said)


def restore_course_names(ipython: Any) -> None:
    """From now on, restore the course's names after every cell, with a message."""
    _originals.update({name: value for name in NAMES if _is_ours(value := ipython.user_ns.get(name))})
    ipython.events.register("post_run_cell", _restore)


def _restore(_: object) -> None:
    names = shell().user_ns
    for name, own in _originals.items():
        if name in names and names[name] is not own:
            kind = type(names[name]).__name__
            names[name] = own
            display_markdown(
                f"**`{name}` belongs to the lesson.** This cell replaced it with a value of type `{kind}`; the "
                f"course's `{name}` is back. Choose another name for yours, and run the cell again."
            )


def _is_ours(value: Any) -> bool:
    known = getattr(value, "__spec__", None) or value  # a module, or a function
    home = getattr(known, "__module__", None) if known is value else known.name
    return isinstance(home, str) and home.startswith("course.")
