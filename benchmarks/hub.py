"""How long submissions on a hub wait for their feedback from `grading watch`.

    python -m benchmarks.hub [--burst 100] [--within 60] [--then 60] [--every 10] [--lesson 02_softmax]

A burst of students submit evenly within so many seconds, then one every so many seconds, all with nbgrader's own step,
through an exchange in a temporary folder. The wait is the time from the submission to its page in the exchange. At the
end every submission must have a page, and every student the points of a right answer.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from grading.course import Course
from grading.plugins.hub.exchange import CourseExchange
from grading.plugins.hub.watch_state import in_seconds
from tests.support.course_builder import build_course, solved_notebook
from tests.support.exchange import Exchange

PATIENCE = 1800.0  # seconds after the last submission


def main(arguments: list[str]) -> list[str]:
    parser = argparse.ArgumentParser(
        prog="benchmarks.hub", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, default in (("burst", 100), ("within", 60), ("then", 60), ("every", 10)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--lesson", default="02_softmax")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="hub-") as folder:
        root = build_course(Path(folder) / "course", [options.lesson], release=True)
        exchange, notebook = Exchange(root, Path(folder)).open([options.lesson]), solved_notebook(root, options.lesson)
        command = [str(Path(sys.executable).parent / "grading"), "watch", "--every", "1"]
        with subprocess.Popen(command, cwd=root, stdout=subprocess.DEVNULL) as watch:
            try:
                begun = time.monotonic()
                for number, at in enumerate(_times(options)):
                    time.sleep(max(0.0, begun + at - time.monotonic()))
                    exchange.submit(f"student-{number:03}", options.lesson, notebook)
                deadline = time.monotonic() + PATIENCE
                while CourseExchange(Course(root)).waiting() and time.monotonic() < deadline:
                    time.sleep(1)
            finally:
                watch.terminate()
        return [*_waits(root, options), f"points: {_points(root)}"]


def _times(options: argparse.Namespace) -> Iterator[float]:
    """Seconds after the start at which somebody submits."""
    yield from (options.within * number / options.burst for number in range(options.burst))
    yield from (options.within + options.every * number for number in range(options.then))


def _waits(root: Path, options: argparse.Namespace) -> list[str]:
    """The distribution of waits, for the burst and for those after it."""
    waits = dict(CourseExchange(Course(root)).waits())
    parts = {"burst": range(options.burst), "then": range(options.burst, options.burst + options.then)}
    lines = []
    for name, numbers in parts.items():
        got = [waits.get(f"student-{number:03}") for number in numbers]
        done = [wait for wait in got if wait is not None]
        soon = sum(wait <= 60 for wait in done)
        lines.append(f"{name}: {in_seconds(done)}, within a minute {soon} of {len(got)}, lost {len(got) - len(done)}")
    return lines


def _points(root: Path) -> dict[str, int]:
    found = [f"{points:g} of {most:g}" for points, most in Course(root).scores().values()]
    return {points: found.count(points) for points in sorted(set(found))}


if __name__ == "__main__":
    print("\n".join(main(sys.argv[1:])))
