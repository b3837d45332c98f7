"""Where the time of one graded notebook goes, step by step.

    python -m benchmarks.steps [LESSON] [--students N]

`nbgrader autograde` grades a batch with the judge's work done in this process. Each step is timed: wall time, and the
CPU of coordinator and judge together; the last line has the kernel's own CPU. Figures are medians over all notebooks
after the first. `benchmarks.classes` measures what a whole class costs, and compares.
"""

from __future__ import annotations

import argparse
import functools
import logging
import os
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jupyter_client.manager import KernelManager

from grading.coordinator.converters import autograde, generate_assignment
from grading.course import Course
from grading.judge import start_judge
from grading.judge.kernel.run import NotebookRun
from grading.judge.kernel.session import Session

from .course import hand_in_class, our_course

STEPS: dict[str, tuple[Any, str]] = {
    "start": (KernelManager, "start_kernel"),
    "ready": (Session, "wait_until_ready"),
    "cells": (NotebookRun, "code"),
    "judged": (NotebookRun, "grade"),
    "torn down": (Session, "stop"),
}


class Clock:
    """Seconds of each step of one notebook, without the steps within it."""

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
    """Seconds of a notebook's steps (wall, grader's CPU) and of its kernels (CPU)."""

    spent: dict[str, list[float]]
    kernels: float


def steps(root: Path, lesson: str, names: list[str]) -> list[Steps]:
    """The steps of each notebook after the first."""
    return [_steps_of(root, lesson, name) for name in names][1:]


def _steps_of(root: Path, lesson: str, name: str) -> Steps:
    clock = Clock()
    kernels: list[Any] = []  # provisioners; the sandbox's knows what its kernel used

    def launched(manager: KernelManager, **given: Any) -> None:
        start(manager, **given)
        kernels.append(manager.provisioner)

    start = KernelManager.start_kernel
    with ExitStack() as stack:
        stack.callback(setattr, start_judge, "IN_PROCESS", start_judge.IN_PROCESS)
        start_judge.IN_PROCESS = True
        for step, (owner, method) in STEPS.items():
            original = getattr(owner, method)
            setattr(owner, method, clock.watched(step, launched if original is start else original))
            stack.callback(setattr, owner, method, original)
        with clock.step("nbgrader itself"):
            autograde(Course(root), lesson, name, again=True)
    return Steps(dict(clock.spent), sum(kernel.cpu_seconds or 0.0 for kernel in kernels))


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
        root = Path(made, "course")
        our_course(root, options.lesson)
        generate_assignment(Course(root), options.lesson)
        found = steps(root, options.lesson, hand_in_class(root, options.lesson, options.students))
    lines = [f"{'':<18} {'wall':>8} {'grader CPU':>11}"]
    totals = [0.0, 0.0]
    for name in (*STEPS, "nbgrader itself"):
        wall, cpu = (statistics.median(one.spent.get(name, [0.0, 0.0])[i] for one in found) for i in (0, 1))
        totals = [totals[0] + wall, totals[1] + cpu]
        lines.append(f"{name:<18} {wall:8.3f} {cpu:11.3f}")
    lines.append(f"{'together':<18} {totals[0]:8.3f} {totals[1]:11.3f}")
    lines.append(f"{'kernel, CPU':<18} {statistics.median(one.kernels for one in found):8.3f}")
    print("\n".join(lines))
    return lines


if __name__ == "__main__":
    main()
