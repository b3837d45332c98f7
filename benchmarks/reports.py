"""Length of the reports of `check` on all known mistakes.

    python -m benchmarks.reports [--show N] [lesson ...]

Each mistake is checked as a learner's answer is, in a session of its lesson. Lines are those of the text form, wrapped
at 100 columns, that are seen before anything is unfolded. --show prints the N longest reports.
"""

from __future__ import annotations

import argparse
import statistics
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from course.harness.forbidden_calls import trusting
from course.notebook import catalog
from course.notebook.check import check_report
from course.notebook.session import Session
from course.notebook.stand_ins import placeholder
from course.report import Report
from grading.exercises.answer_text import GIVEN, Answer
from grading.exercises.exercise import Exercise, Mistake
from grading.exercises.lesson import load_lesson

ROOT = Path(__file__).resolve().parents[1]
COLUMNS = 100


@dataclass(frozen=True)
class Said:
    """The report on one answer; `mistake`: the known mistake that it is, None for other answers."""

    exercise: Exercise
    answer: str
    report: Report
    mistake: Mistake | None = None

    def __str__(self) -> str:
        return f"{self.exercise.name}, {self.answer}:\n{self.report.to_text()}"


def reports(lesson: str, every_form: bool = False) -> Iterator[Said]:
    """The reports on all known mistakes, right alternatives and stubs of a lesson.

    every_form  each value of a mistake's constant, not only the first
    """
    names: dict[str, Any] = {"__name__": "__main__", "torch": torch}
    session = Session(lesson=lesson, names=names)
    for exercise in load_lesson(ROOT / "grader_tests" / lesson).all_exercises.values():
        yield Said(exercise, "stub", _check(session, exercise, placeholder(exercise.name)))
        for right in exercise.alternatives:
            yield Said(exercise, f"alternative {right.name}", _check(session, exercise, _beside(right, names)))
        for mistake in exercise.mistakes:
            for form in mistake.all_forms[: None if every_form else 1]:
                answer = form.load()
                with trusting([answer]):  # many are written with what the exercise forbids
                    yield Said(exercise, form.name, _check(session, exercise, answer), mistake)
        yield Said(exercise, "as it is forbidden", _check(session, exercise, answer))
        names[exercise.name] = _beside(exercise.alternatives[0], names)  # for the exercises that call it


def _beside(right: Answer, names: dict[str, Any]) -> Any:
    """A right answer, which may call the exercises before it."""
    return right.exec_in(GIVEN | names)[right.exercise_name]


def _check(session: Session, exercise: Exercise, answer: Any) -> Report:
    session.names[exercise.name] = answer
    return check_report(session, answer)


def lines(report: Report) -> int:
    """Lines of a report that are seen at first."""
    text = report.to_text(more=f"(all cases: check({report.exercise}, full=True))")
    return sum(len(textwrap.wrap(line, COLUMNS)) or 1 for line in text.splitlines())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lessons", nargs="*", default=catalog.lessons())
    parser.add_argument("--show", type=int, default=0)
    options = parser.parse_args()
    everything: list[Said] = []
    for lesson in options.lessons:
        found = [said for said in reports(lesson) if said.mistake]
        print(f"{lesson}: {_distribution(found)}", flush=True)
        everything += found
    print(f"all: {_distribution(everything)}")
    for said in sorted(everything, key=lambda said: -lines(said.report))[: options.show]:
        print(f"\n{said}")


def _distribution(found: list[Said]) -> str:
    counts = [lines(said.report) for said in found]
    return f"{len(counts)} reports, {statistics.median(counts):g} lines in the median, {max(counts)} at most"


if __name__ == "__main__":
    main()
