"""What it costs to grade a class: this course in several ways, nbgrader alone, Otter-Grader, and the floor of it all.

    python -m benchmarks.classes [LESSON] [--sizes 10 100] [--write]

All grade the same notebooks with the same right answers, one way after the other in one run. Each class is graded in a
fresh copy of a course by one command, and the CPU is that of all processes which that command started. A class of one
tells what starting costs: *each further* submission is the rest, shared out. The median and the slowest twentieth are
seconds between one graded notebook and the next, with one worker. nbgrader and Otter-Grader grade the smallest class
only (and one): what they cost grows as the number of submissions. Memory is looked at in a run of its own, since
looking costs time.

What two workers gain is measured in turn: one, two, and beside them one process and two of the floor, round after round
within minutes, since on a machine that others share the second core is not always whole.

`--write` writes table and picture to docs/performance.md. What is compared: `stock`, `otter`, `floor`.
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

from grading.coordinator.nbgrader_api import release, scores

from . import otter, published
from .course import ROOT, hand_in_class, our_course
from .published import FLOOR, OTTER, OUR_NBGRADER, OURS, STOCK, TWO
from .stock import make_course
from .supervise import CommandRun, succeeded, supervised

EACH, FIRST = 120, 300  # seconds for a submission, and for a command to start: limits, far above what is measured
LOOKED = 3  # students of the class in which memory is looked at
ROUNDS, IN_TURN = 5, 40  # in which one worker and two are compared, and students of the class of each


@dataclass(frozen=True)
class Way:
    """One way of grading a class. template: the course that is copied; command: what grades a class in it."""

    name: str
    template: str
    command: tuple[str, ...]
    workers: int = 1
    largest: bool = True  # whether it grades classes of every size, or the smallest alone


@dataclass
class Cost:
    """Of a class. Seconds; between: from one graded notebook to the next, in order of time."""

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
        """Submissions in a second, of those after the first: what starts first is not what workers share."""
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
    """Courses with the lesson released and nobody in them, by name; `class_of` makes a copy with a class."""

    def __init__(self, place: Path, lesson: str) -> None:
        self.place, self.lesson = place, lesson
        our_course(place / "ours", lesson)
        release(place / "ours", lesson)
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
    """Grade a class of a size. Raises RuntimeError where a right answer has not all its points."""
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
    """So many processes beside each other, each with a whole class of the size."""
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
    """Of each round, how many times the rate of one two workers have, and two processes of the floor."""
    one, two = (way for way in ways(templates.lesson) if way.name in {OURS, TWO})
    for _ in range(ROUNDS):
        workers = [measure(templates, way, IN_TURN)[0].rate for way in (one, two)]
        floor = [measure_floor(templates, IN_TURN, processes).rate for processes in (1, 2)]
        yield workers[1] / workers[0], floor[1] / floor[0]


def _points(root: Path, lesson: str, *, ours: bool) -> list[tuple[float, float]]:
    """Points and maximum of every submission that has a grade."""
    if ours:
        return list(scores(root).values())
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{root}/gradebook.db", "stock") as gradebook:
        return [(s.score, s.max_score) for s in gradebook.assignment_submissions(lesson)]


def measure_all(templates: Templates, sizes: list[int]) -> Iterator[Cost]:
    """Every way with a class of one, which tells what starting costs, and with the classes that it is to grade."""
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
    """Way -> role -> what one process of that role held at most, in bytes."""
    return {
        way.name: measure(templates, way, size, look=True)[1].most
        for way in ways(templates.lesson)
        if way.name in {OURS, STOCK}
    }


def told(costs: Iterable[Cost]) -> Iterator[Cost]:
    """The same, each printed as it comes."""
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
