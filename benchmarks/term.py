"""What the other steps of a term cost: release, feedback, report and export, beside nbgrader alone.

    python -m benchmarks.term [LESSON] [--students N] [--write]

Each is run for a class of one and for one of N, in courses in which these are graded. From both comes what it would
cost for 200 students in 8 lessons. A report has no counterpart. CPU is that of all processes of a command. `--write`
writes the table to docs/performance.md.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from . import published
from .classes import FIRST, Templates, ways
from .course import ROOT
from .supervise import succeeded, supervised

STUDENTS, LESSONS = 200, 8
# `grading release` without the proofs, which cost what they cost and are made once
RELEASE = (
    "from pathlib import Path; from rich.console import Console; from grading.run.classroom import release_lessons; "
    "release_lessons(Path().resolve(), [{!r}], Console())"
)


@dataclass(frozen=True)
class Step:
    """One step on one side. CPU seconds; together: whether one command does all lessons."""

    name: str
    whose: str
    one: float
    further: float
    together: bool

    @property
    def predicted(self) -> float:
        """For a large class in all lessons."""
        commands = 1 if self.together else LESSONS
        return commands * self.one + (STUDENTS * LESSONS - commands) * self.further

    def row(self) -> str:
        known = self.further > 0 or self.name == "release"
        cells = [f"{self.further:.3f}", f"{self.predicted:.0f}"] if known else ["too small to tell", ""]
        return f"| {self.name} | {self.whose} | {self.one:.2f} | {' | '.join(cells)} |"


def commands(lesson: str) -> dict[str, dict[str, list[str]]]:
    """Template -> step -> its command."""
    return {
        "ours": {
            "release": [sys.executable, "-c", RELEASE.format(lesson)],
            "feedback": ["grading", "feedback", lesson, "--workers", "1"],
            "report": ["grading", "report"],
            "export": ["nbgrader", "export"],
        },
        "stock": {
            "release": ["nbgrader", "generate_assignment", lesson, "--force"],
            "feedback": ["nbgrader", "generate_feedback", lesson],
            "export": ["nbgrader", "export"],
        },
    }


def measure(templates: Templates, template: str, students: int) -> dict[str, float]:
    """CPU seconds of each step, for a class that was graded before."""
    grade = next(way.command for way in ways(templates.lesson) if way.template == template)
    with templates.class_of(template, students) as root:
        succeeded(supervised(list(grade), root, FIRST * students))
        if template == "ours":  # what is up to date would be no work at all
            (root / "release" / templates.lesson / f"{templates.lesson}.ipynb").unlink()
        steps = commands(templates.lesson)[template]
        found = {name: succeeded(supervised(one, root, FIRST * students)).cpu for name, one in steps.items()}
        pages = len(list(root.glob("feedback/*/*/*.html")))
    if pages != students:
        raise RuntimeError(f"{template}: {pages} pages for {students} students")
    return found


def compared(templates: Templates, students: int) -> Iterator[Step]:
    for template, whose in (("ours", "this course"), ("stock", "nbgrader alone")):
        one, many = (measure(templates, template, size) for size in (1, students))
        for name, cpu in one.items():
            if name == "release":  # which knows no students
                yield Step(name, whose, cpu, 0.0, together=False)
            else:
                together = template == "ours" or name == "export"
                yield Step(name, whose, cpu, max(0.0, many[name] - cpu) / (students - 1), together)


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
        steps = sorted(compared(templates, options.students), key=lambda step: step.name)
    head = f"| step | by | CPU s for one | each further | {STUDENTS} students, {LESSONS} lessons |"
    table = [head, "|---|---|--:|--:|--:|", *(step.row() for step in steps)]
    if options.write:
        about = f"With a class of {options.students} in lesson `{options.lesson}`, on {published.machine()}."
        published.put(ROOT, "term", "\n".join([about, "", *table]))
    return table


if __name__ == "__main__":
    print("\n".join(main()))
