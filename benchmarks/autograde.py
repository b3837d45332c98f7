"""What a graded notebook costs: `nbgrader autograde` with this course's judge and sandbox, and with asserts alone.

    python -m benchmarks.autograde [LESSON] [--students N]

Both grade the same notebooks in one process each, in the same run. CPU seconds are of the whole tree of processes, as
the kernel accounts them when each process has been waited for.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import nbformat

from grading.build import build_lesson
from grading.judge.exercise import load_lesson
from grading.sample import hand_in, right, write_answers

from .stock import make_course

ROOT = Path(__file__).parents[1]
NBGRADER = str(Path(sys.executable).parent / "nbgrader")


@dataclass(frozen=True)
class Cost:
    """Of one process and all its children, in seconds."""

    wall: float
    cpu: float


def measure(command: list[str], cwd: Path) -> Cost:
    """Run a command to its end. Raises RuntimeError, with what it said, where it fails."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    with tempfile.TemporaryFile("w+") as said:
        begun = time.monotonic()
        process = subprocess.Popen(command, cwd=cwd, env=environment, stdout=said, stderr=said)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.monotonic() - begun
        if process.returncode:
            said.seek(0)
            raise RuntimeError(f"{' '.join(command)} failed:\n{said.read()[-3000:]}")
    return Cost(wall, usage.ru_utime + usage.ru_stime)


def our_course(root: Path, lesson: str) -> None:
    """A copy of this course with one lesson built and nothing handed in."""
    for name in ("nbgrader_config.py", "source", "grader_tests"):
        source = ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, root / name)
    build_lesson(root, lesson)


def per_notebook(root: Path, lesson: str, students: int) -> Cost:
    """The cost of one more notebook: that of a batch less that of a batch of one, over the rest."""
    release = nbformat.read(root / "release" / lesson / f"{lesson}.ipynb", as_version=4)
    exercises = load_lesson(ROOT / "grader_tests" / f"{lesson}.py")
    for number in range(students):
        hand_in(root, lesson, f"s{number:02}", write_answers(release, right(exercises, number)))
    one = measure([NBGRADER, "autograde", lesson, "--student", "s00", "--force"], root)
    all_of_them = measure([NBGRADER, "autograde", lesson, "--force"], root)
    rest = students - 1
    return Cost((all_of_them.wall - one.wall) / rest, (all_of_them.cpu - one.cpu) / rest)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lesson", nargs="?", default="02_softmax")
    parser.add_argument("--students", type=int, default=9)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="bench-") as made:
        ours, stock = Path(made, "ours"), Path(made, "stock")
        ours.mkdir()
        our_course(ours, options.lesson)
        make_course(stock, ROOT, options.lesson)
        costs = {}
        for name, root in (("asserts alone", stock), ("judge and sandbox", ours)):
            measure([NBGRADER, "generate_assignment", options.lesson], root)
            costs[name] = per_notebook(root, options.lesson, options.students)
    print(f"{options.lesson}, each further notebook of {options.students}")
    for name, cost in costs.items():
        print(f"  {name:<20} {cost.cpu:6.2f} s CPU  {cost.wall:6.2f} s wall")
    a, b = costs.values()
    print(f"  ratio                {a.cpu / b.cpu:6.1f} ×      {a.wall / b.wall:6.1f} ×")


if __name__ == "__main__":
    main()
