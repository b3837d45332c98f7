"""Cost of release, feedback, report and export, beside nbgrader alone.

    python -m benchmarks.term [LESSON] [--students N] [--write]

All eight lessons are released. Feedback, report and export run for a class of one and for one of N that are graded in
one lesson; from both, the cost for eight lessons is computed. nbgrader has no report. CPU is that of all processes of a
command, the median of five if the step can be repeated. `--write` writes the table to docs/performance.md.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from statistics import median

from grading.course_dir.lessons import list_lessons

from . import published
from .classes import EACH, FIRST, Templates, ways
from .course import ROOT, our_course
from .stock import make_course
from .supervise import succeeded, supervised

OURS, STOCK = "this course", "nbgrader alone"
AGAIN = 5  # runs, except of feedback: a page that is up to date is not made again
LESSONS = [name for name in list_lessons(ROOT) if "01" <= name[:2] <= "08"]
# `grading release` without the proofs, which are made only once
RELEASE = (
    "from pathlib import Path; from rich.console import Console; "
    "from grading.coordinator.release import release_lessons; "
    "from grading.course import Course; "
    "release_lessons(Course(Path().resolve()), {!r}, Console())"
)


@dataclass(frozen=True)
class Step:
    """CPU seconds of one step on one side.

    one, large  for a class of one, and for a large one
    everywhere  for the large one in all lessons
    """

    name: str
    whose: str
    one: float | None
    large: float | None
    everywhere: float

    def row(self) -> str:
        small = [f"{cpu:.2f}" if cpu is not None else "" for cpu in (self.one, self.large)]
        return f"| {self.name} | {self.whose} | {' | '.join(small)} | {self.everywhere:.1f} |"


def releases(place: Path) -> Iterator[Step]:
    """Release all lessons with ours and with nbgrader alone.

    Ours is one command, which also builds them; nbgrader's is one for each lesson, already built.
    """
    ours, stock = place / "release-ours", place / "release-stock"
    our_course(ours, *LESSONS)
    for name in LESSONS:
        make_course(stock, ours, name)
    one = [[sys.executable, "-c", RELEASE.format(LESSONS)]]
    each = [["nbgrader", "generate_assignment", name, "--force"] for name in LESSONS]
    for root, whose, commands in ((ours, OURS, one), (stock, STOCK, each)):
        cpu = sum(succeeded(supervised(command, root, FIRST)).cpu for command in commands)
        released = {path.parent.name for path in root.glob("release/*/*.ipynb")}
        if released != set(LESSONS):
            raise RuntimeError(f"{whose}: released are {sorted(released)}")
        yield Step("release", whose, None, None, cpu)


def steps_of(lesson: str) -> dict[str, dict[str, list[str]]]:
    """Template -> step -> its command."""
    return {
        "ours": {
            "feedback": ["grading", "feedback", lesson, "--workers", "1"],
            "report": ["grading", "report"],
            "export": ["nbgrader", "export"],
        },
        "stock": {
            "feedback": ["nbgrader", "generate_feedback", lesson],
            "export": ["nbgrader", "export"],
        },
    }


def measure(templates: Templates, template: str, students: int) -> dict[str, float]:
    """CPU seconds of each step, for a class that is already graded."""
    grade = next(way.command for way in ways(templates.lesson) if way.template == template)
    limit = FIRST + EACH * students
    with templates.class_of(template, students) as root:
        succeeded(supervised(list(grade), root, limit))
        steps = steps_of(templates.lesson)[template]
        found = {
            name: median(succeeded(supervised(one, root, limit)).cpu for _ in range(AGAIN if name != "feedback" else 1))
            for name, one in steps.items()
        }
        pages = len(list(root.glob("feedback/*/*/*.html")))
    if pages != students:
        raise RuntimeError(f"{template}: {pages} pages for {students} students")
    return found


def compared(templates: Templates, students: int) -> Iterator[Step]:
    for template, whose in (("ours", OURS), ("stock", STOCK)):
        one, many = (measure(templates, template, size) for size in (1, students))
        for name, cpu in one.items():
            once = template == "ours" or name == "export"  # for all lessons there is one command
            further = max(0.0, many[name] - cpu) if once else many[name]
            yield Step(name, whose, cpu, many[name], many[name] + (len(LESSONS) - 1) * further)


def main(arguments: list[str] | None = None) -> list[str]:
    """Measure and print; returns the lines of the summary."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lesson", nargs="?", default="02_softmax")
    parser.add_argument("--students", type=int, default=8)
    parser.add_argument("--write", action="store_true", help="write docs/performance.md")
    options = parser.parse_args(arguments)
    if options.students < 2:
        parser.error("a class takes two students")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with tempfile.TemporaryDirectory(prefix="bench-") as made:
        templates = Templates(Path(made), options.lesson)
        measured = chain(releases(Path(made)), compared(templates, options.students))
        steps = sorted(measured, key=lambda step: step.name)
    head = f"| step | by | CPU s for one | for {options.students} | for {options.students}, in {len(LESSONS)} lessons |"
    table = [head, "|---|---|--:|--:|--:|", *(step.row() for step in steps)]
    if options.write:
        about = f"With a class of {options.students} in lesson `{options.lesson}`, on {published.machine()}."
        published.put(ROOT, "term", "\n".join([about, "", *table]))
    return table


if __name__ == "__main__":
    print("\n".join(main()))
