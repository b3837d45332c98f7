"""Cost of grading a class: this course, nbgrader alone, Otter-Grader, the floor.

    python -m benchmarks.classes [LESSON] [--sizes 10 100] [--write]

All grade the same notebooks with the same correct answers, one way after the other in one run. One command grades each
class in a fresh copy of a course, and CPU is that of all processes which the command started. A class of one shows the
cost of starting; *each further* submission is the rest, divided by their number. The median and the slowest twentieth
are seconds from one graded notebook to the next, with one worker. nbgrader and Otter-Grader grade only the smallest
class (nbgrader a class of one, too): their cost grows in proportion to the number of submissions. Memory is measured in
a separate run, since measuring it takes time.

The gain of two workers is measured in rounds within minutes: one worker and two, then one process of the floor and two,
since on a shared machine the second core is not always free.

`--write` writes table and picture to docs/performance.md. The modules `stock`, `otter` and `floor` are compared.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from grading.coordinator.converters import generate_assignment
from grading.course import Course

from . import otter, published
from .course import ROOT, hand_in_class, our_course
from .published import FLOOR, OTTER, OUR_NBGRADER, OURS, STOCK, TWO
from .stock import make_course
from .supervise import CommandRun, succeeded, supervised

EACH, FIRST = 120, 300  # time limits in seconds per submission and for a command to start, far above what is measured
LOOKED = 3  # students of the class in which memory is measured
ROUNDS, IN_TURN = 5, 40  # rounds that compare one worker with two, and students of each class


@dataclass(frozen=True)
class Way:
    """One way of grading a class: `command`, in a copy of the course `template`."""

    name: str
    template: str
    command: tuple[str, ...]
    workers: int = 1
    largest: bool = True  # whether it grades classes of every size, or only the smallest


@dataclass
class Cost:
    """Cost of grading a class, in seconds.

    between  from one graded notebook to the next, in order of time
    held     memory of the command over time, in bytes
    """

    way: str
    size: int
    workers: int
    wall: float
    cpu: float
    between: list[float] = field(default_factory=list)
    held: list[float] = field(default_factory=list)

    @property
    def each(self) -> float:
        return self.cpu / self.size

    @property
    def rate(self) -> float:
        """Submissions per second after the first, since workers do not share the start."""
        return len(self.between) / sum(self.between)

    @property
    def a_minute_and_core(self) -> float:
        return 60 * self.size / self.wall / self.workers


def ways(lesson: str) -> list[Way]:
    ours = ("grading", "grade", lesson)
    return [
        Way(OURS, "ours", (*ours, "--workers", "1")),
        Way(TWO, "ours", (*ours, "--workers", "2"), workers=2),
        Way("grading grade --unsandboxed", "ours", (*ours, "--workers", "1", "--unsandboxed"), largest=False),
        Way(OUR_NBGRADER, "ours", ("nbgrader", "autograde", lesson), largest=False),
        Way(STOCK, "stock", ("nbgrader", "autograde", lesson), largest=False),
        Way("nbgrader alone, no demonstrations", "plain", ("nbgrader", "autograde", lesson), largest=False),
    ]


class Templates:
    """Courses with the lesson released; `class_of` makes a copy with a class."""

    def __init__(self, place: Path, lesson: str) -> None:
        self.place, self.lesson = place, lesson
        our_course(place / "ours", lesson)
        generate_assignment(Course(place / "ours"), lesson)
        for name, demos in (("stock", True), ("plain", False)):
            make_course(place / name, place / "ours", lesson, demos=demos)
            succeeded(supervised(["nbgrader", "generate_assignment", lesson], place / name, FIRST))

    @contextmanager
    def class_of(self, template: str, size: int) -> Iterator[Path]:
        root = self.place / "class"
        shutil.copytree(self.place / template, root)
        try:
            hand_in_class(root, self.lesson, size)
            yield root
        finally:
            shutil.rmtree(root)


def measure(templates: Templates, way: Way, size: int, *, look: bool = False) -> tuple[Cost, CommandRun]:
    """Grade a class of a size. Raises RuntimeError if a correct answer loses points."""
    with templates.class_of(way.template, size) as root:
        ran = succeeded(supervised(list(way.command), root, FIRST + EACH * size, look=look))
        written = sorted(
            file.stat().st_mtime for file in root.glob(f"autograded/*/{templates.lesson}/{templates.lesson}.ipynb")
        )
        points = _points(root, templates.lesson, ours=way.template == "ours")
    if len(points) != size or any(got != most for got, most in points):
        raise RuntimeError(f"{way.name}: {len(points)} of {size} are graded, with {sorted(set(points))} points")
    between = [later - earlier for earlier, later in pairwise(written)]
    return Cost(way.name, size, way.workers, ran.wall, ran.cpu, between, ran.held), ran


def measure_otter(templates: Templates, size: int) -> Cost:
    """`otter run` on each submission of a class in turn. Raises NotInstalled."""
    command, total = otter.installed(), Cost(OTTER, size, 1, 0.0, 0.0)
    with templates.class_of("stock", size) as root:
        otter.make_autograder(root / "autograder.zip", templates.lesson)
        for file in sorted(root.glob(f"submitted/*/{templates.lesson}/*.ipynb")):
            ran = succeeded(
                supervised([str(command), "run", str(file), "-a", "autograder.zip", "-o", str(root)], root, FIRST)
            )
            got = otter.points(root / "results.json")
            if not got or sum(got.values()) < otter.most(templates.lesson):
                raise RuntimeError(f"Otter-Grader: a right submission got {got}\n{ran.said[-2000:]}")
            total.wall, total.cpu, total.between = (
                total.wall + ran.wall,
                total.cpu + ran.cpu,
                [*total.between, ran.wall],
            )
    return total


def measure_floor(templates: Templates, size: int, processes: int = 1) -> Cost:
    """Run this many processes in parallel, each with a whole class of the size."""
    with templates.class_of("ours", size + 1) as root:
        command = [sys.executable, "-m", "benchmarks.floor", str(root), templates.lesson]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        started = [
            subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
            for _ in range(processes)
        ]
        printed = [process.communicate()[0] for process in started]
    each = [(float(cpu), float(seconds)) for text in printed for cpu, seconds in json.loads(text)]
    between = [seconds / processes for _, seconds in each]
    return Cost(FLOOR, len(each), processes, sum(between), sum(cpu for cpu, _ in each), between)


def measure_in_turn(templates: Templates) -> Iterator[tuple[float, float]]:
    """The speedup by two workers, and by two processes of the floor, in each round."""
    one, two = (way for way in ways(templates.lesson) if way.name in {OURS, TWO})
    for _ in range(ROUNDS):
        workers = [measure(templates, way, IN_TURN)[0].rate for way in (one, two)]
        floor = [measure_floor(templates, IN_TURN, processes).rate for processes in (1, 2)]
        yield workers[1] / workers[0], floor[1] / floor[0]


def _points(root: Path, lesson: str, *, ours: bool) -> list[tuple[float, float]]:
    """Points and maximum of every submission that has a grade."""
    if ours:
        return list(Course(root).scores().values())
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{root}/gradebook.db", "stock") as gradebook:
        return [(s.score, s.max_score) for s in gradebook.assignment_submissions(lesson)]


def measure_all(templates: Templates, sizes: list[int]) -> Iterator[Cost]:
    """Measure each way with a class of one (the cost of starting) and larger ones."""
    smallest = min(sizes)
    for size in sizes:
        yield measure_floor(templates, size)
    for way in ways(templates.lesson):
        for size in [1, *(sizes if way.largest else [smallest])]:
            yield measure(templates, way, size)[0]
    try:
        yield measure_otter(templates, smallest)
    except otter.NotInstalled as why:
        print(f"Otter-Grader is not measured: {why}", flush=True)


def memories(templates: Templates, size: int) -> dict[str, dict[str, dict[str, float]]]:
    """Way -> role -> the most that one process of it used, see `CommandRun.most`."""
    return {
        way.name: measure(templates, way, size, look=True)[1].most
        for way in ways(templates.lesson)
        if way.name in {OURS, STOCK}
    }


def told(costs: Iterable[Cost]) -> Iterator[Cost]:
    """Yield the costs, printing each as it comes."""
    for cost in costs:
        print(
            f"{cost.way:<36} class of {cost.size:<5} {cost.cpu:8.2f} s CPU, {cost.each:6.3f} each  "
            f"{cost.wall:7.1f} s wall",
            flush=True,
        )
        yield cost


def main(arguments: list[str] | None = None) -> list[str]:
    """Measure and print; returns the lines of the summary."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lesson", nargs="?", default="02_softmax")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 100], help="classes; 1000 takes half an hour more")
    parser.add_argument("--write", action="store_true", help="write docs/performance.md and its picture")
    options = parser.parse_args(arguments)
    if min(options.sizes) < 3:
        parser.error("a class takes three students")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="bench-") as made:
        templates = Templates(Path(made), options.lesson)
        costs = list(told(measure_all(templates, sorted(options.sizes))))
        in_turn = []
        for workers, floor in measure_in_turn(templates):
            print(f"two to one: {workers:.2f} x workers, {floor:.2f} x processes of the floor", flush=True)
            in_turn.append((workers, floor))
        memory = memories(templates, LOOKED)
    results = published.Results(options.lesson, costs, memory, load, in_turn)
    if options.write:
        published.write(ROOT, results)
    return results.summary()


if __name__ == "__main__":
    print("\n".join(main()))
