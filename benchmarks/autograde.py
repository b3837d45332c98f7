"""What a graded notebook costs: `nbgrader autograde` with this course's judge and sandbox, and with asserts alone.

    python -m benchmarks.autograde [LESSON] [--students N]

Both grade the same right answers, one after the other in one nbgrader process, in the same run. Seconds are for each
notebook after the first: those of a batch less those of a batch of one, over the rest. CPU is that of nbgrader and of
all processes that it started. Then a batch of ours is graded with the judge's work done in this process, and a clock
on each step: wall time, and the CPU of coordinator and judge together; the kernel's own CPU stands below. Medians.
"""

from __future__ import annotations

import argparse
import functools
import logging
import os
import shutil
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.manager import KernelManager

from grading.build import build_lesson
from grading.judge.lesson import load_lesson
from grading.judging import client
from grading.judging.kernel.notebook_run import NotebookRun
from grading.judging.kernel.session import Session
from grading.run.nbgrader import autograde
from grading.sample import hand_in, right, write_answers

from .stock import make_course
from .supervise import CommandRun, succeeded, supervised

ROOT = Path(__file__).parents[1]
LIMIT = 600  # seconds for one batch
STEPS: dict[str, tuple[Any, str]] = {
    "start": (KernelManager, "start_kernel"),
    "ready": (Session, "wait_until_ready"),
    "cells": (NotebookRun, "code"),
    "judged": (NotebookRun, "judge"),
    "torn down": (Session, "stop"),
}


@dataclass(frozen=True)
class Cost:
    """Seconds."""

    wall: float
    cpu: float


def our_course(root: Path, lesson: str) -> None:
    """A copy of this course with one lesson built, nothing released and nothing handed in."""
    root.mkdir(parents=True)
    for name in ("nbgrader_config.py", "source", "grader_tests"):
        source = ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, root / name)
    build_lesson(root, lesson)


def hand_in_class(root: Path, lesson: str, students: int) -> list[str]:
    """Right answers in several styles; returns the students' names."""
    release = nbformat.read(root / "release" / lesson / f"{lesson}.ipynb", as_version=4)
    exercises = load_lesson(ROOT / "grader_tests" / lesson)
    names = [f"s{number:02}" for number in range(students)]
    for number, name in enumerate(names):
        hand_in(root, lesson, name, write_answers(release, right(exercises, number)))
    return names


def per_notebook(root: Path, lesson: str, names: list[str]) -> Cost:
    """The cost of one more notebook."""

    def graded(*arguments: str) -> CommandRun:
        return succeeded(supervised(["nbgrader", "autograde", lesson, "--force", *arguments], root, LIMIT))

    one, everybody, rest = graded("--student", names[0]), graded(), len(names) - 1
    return Cost((everybody.wall - one.wall) / rest, (everybody.cpu - one.cpu) / rest)


class Clock:
    """Seconds of each step of one notebook; a step within another counts for itself alone."""

    def __init__(self) -> None:
        self.spent: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
        self._inner = [0.0, 0.0]

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        outer, self._inner = self._inner, [0.0, 0.0]
        begun = time.perf_counter(), time.process_time()
        try:
            yield
        finally:
            took = time.perf_counter() - begun[0], time.process_time() - begun[1]
            for i in (0, 1):
                self.spent[name][i] += took[i] - self._inner[i]
                outer[i] += took[i]
            self._inner = outer

    def watched(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def timed(*args: Any, **kwargs: Any) -> Any:
            with self.step(name):
                return method(*args, **kwargs)

        return timed


@dataclass(frozen=True)
class Steps:
    """Of one notebook: seconds of its steps (wall, grader's CPU), and its kernels' CPU seconds."""

    spent: dict[str, list[float]]
    kernels: float


def steps(root: Path, lesson: str, names: list[str]) -> list[Steps]:
    """Of each notebook after the first."""
    return [_steps_of(root, lesson, name) for name in names][1:]


def _steps_of(root: Path, lesson: str, name: str) -> Steps:
    clock = Clock()
    kernels: list[Any] = []  # provisioners; the sandbox's knows what its kernel used

    def launched(manager: KernelManager, **given: Any) -> None:
        start(manager, **given)
        kernels.append(manager.provisioner)

    start = KernelManager.start_kernel
    with ExitStack() as stack:
        stack.callback(setattr, client, "IN_PROCESS", client.IN_PROCESS)
        client.IN_PROCESS = True
        for step, (owner, method) in STEPS.items():
            original = getattr(owner, method)
            setattr(owner, method, clock.watched(step, launched if original is start else original))
            stack.callback(setattr, owner, method, original)
        with clock.step("nbgrader itself"):
            autograde(root, lesson, name, again=True)
    return Steps(dict(clock.spent), sum(kernel.cpu_seconds or 0.0 for kernel in kernels))


def show_steps(found: list[Steps]) -> None:
    print(f"  {'each step of ours':<20} {'wall':>8} {'grader CPU':>11}")
    totals = [0.0, 0.0]
    for name in (*STEPS, "nbgrader itself"):
        wall, cpu = (statistics.median(one.spent.get(name, [0.0, 0.0])[i] for one in found) for i in (0, 1))
        totals = [totals[0] + wall, totals[1] + cpu]
        print(f"    {name:<18} {wall:8.3f} {cpu:11.3f}")
    print(f"    {'together':<18} {totals[0]:8.3f} {totals[1]:11.3f}")
    print(f"    {'kernel, CPU':<18} {statistics.median(one.kernels for one in found):8.3f}")


def main(arguments: list[str] | None = None) -> list[str]:
    """Measure and print; returns the lines of the summary."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lesson", nargs="?", default="02_softmax")
    parser.add_argument("--students", type=int, default=9)
    options = parser.parse_args(arguments)
    if options.students < 3:
        parser.error("a batch takes three students")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory(prefix="bench-") as made:
        ours, stock = Path(made, "ours"), Path(made, "stock")
        our_course(ours, options.lesson)
        make_course(stock, ours, options.lesson)
        costs = {}
        for name, root in (("asserts alone", stock), ("judge and sandbox", ours)):
            print(f"{name}: {options.students} notebooks …", flush=True)
            succeeded(supervised(["nbgrader", "generate_assignment", options.lesson], root, LIMIT))
            names = hand_in_class(root, options.lesson, options.students)
            costs[name] = per_notebook(root, options.lesson, names)
        found = steps(ours, options.lesson, names)
    print(f"\n{options.lesson}, each further notebook of {options.students}")
    for name, cost in costs.items():
        print(f"  {name:<20} {cost.cpu:6.2f} s CPU  {cost.wall:6.2f} s wall")
    a, b = costs.values()
    print(f"  ratio                {a.cpu / b.cpu:6.1f} ×      {a.wall / b.wall:6.1f} ×\n")
    show_steps(found)
    return [
        f"processor time   {b.cpu:6.2f} s each, nbgrader alone {a.cpu:.2f} s: a part of 1 in {a.cpu / b.cpu:.0f} "
        "(wanted: 1 in 10; aimed at: 1 in 20)",
        f"wall time        {b.wall:6.2f} s each, nbgrader alone {a.wall:.2f} s",
    ]


if __name__ == "__main__":
    main()
