"""Judge every exercise on a GPU and run lessons 08 and 10 there, in at most eight minutes.

    python -m tests.support.gpu [LESSON …]                  (make test-gpu)
    python -m tests.support.gpu --device cpu 02_softmax     tries this script on a machine without a GPU

Of each lesson two notebooks are graded, with `c.JudgedExecute.device`: one with the lesson's solutions, which must earn
all points, and one with a known mistake in each exercise, which must be named. Lessons 08 and 10, which use a GPU that
they find, also run from top to bottom. Prints one table, and ends with 1 if a solution loses points, a mistake
gets another name or none, or a lesson stops at an error.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import nbformat
import torch
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from rich.console import Console

from benchmarks.strength.devices import in_words
from grading.coordinator.demo_class import hand_in, with_mistakes, write_answers
from grading.coordinator.grade_class import grade_class
from grading.course import Course
from grading.course_dir.lessons import list_lessons
from grading.exercises.lesson import load_lesson
from grading.gradebook.store import stored_grades
from grading.grader.verdict import needs_a_person
from grading.notebooks.cells import check_of, grade_id
from grading.safe_text import plural

from .class_helpers import gradebook_url
from .course_builder import build_course, released_notebook
from .repository import ROOT, SEED
from .run_notebook import run

RUN_THERE = ("08_training", "10_tiles")
SOLUTIONS, MISTAKES = "solutions", "mistakes"  # the students
NO_GPU = "no GPU: torch finds no CUDA device. Run this on a machine with an NVIDIA GPU, or try it with --device cpu."


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="tests.support.gpu", description=__doc__.partition("\n")[0])
    parser.add_argument("lessons", nargs="*", metavar="LESSON", help="lessons to grade (default: all)")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help="device to judge on (default: cuda)")
    parser.add_argument("--unsandboxed", action="store_true", help="no sandbox, for a machine that grants none")
    options = parser.parse_args(arguments)
    if options.device == "cuda" and not torch.cuda.is_available():
        print(NO_GPU, file=sys.stderr)
        return 2
    lessons, began, failures = list_lessons(ROOT, options.lessons), time.monotonic(), 0
    print(in_words() if options.device == "cuda" else "on the CPU")
    _show("exercise", "solution", "mistake", "seconds")
    with tempfile.TemporaryDirectory(prefix="gpu-") as folder:
        config = f'c.JudgedExecute.device = "{options.device}"\nc.JudgedExecute.unsandboxed = {options.unsandboxed}'
        root = build_course(Path(folder) / "course", lessons, config=config, seed=SEED, release=True)
        for lesson in lessons:
            failures += _judge(root, lesson)
            if lesson in RUN_THERE:
                failures += _run(root, lesson)
    print(f"{plural(failures, 'failure')} in {time.monotonic() - began:.0f} s")
    return min(1, failures)


def _judge(root: Path, lesson: str) -> int:
    """Grade a lesson's two notebooks, and show each exercise; returns the number of failures."""
    began, described = time.monotonic(), load_lesson(root / "grader_tests" / lesson)
    solved, release = _solved(root, lesson), released_notebook(root, lesson)
    solutions = {grade_id(cell): cell.source for cell in solved.cells if grade_id(cell) in described.exercises}
    mistakes = with_mistakes(described, lambda position: 0)
    for student, answers in {SOLUTIONS: solutions, MISTAKES: mistakes}.items():
        hand_in(root, lesson, student, write_answers(release, answers))
    grade_class(Course(root), [lesson], Console(quiet=True))
    with Gradebook(gradebook_url(root), "attention") as gradebook:
        found = {grade.student: grade.verdicts for grade in stored_grades(gradebook, lesson)}
    _show(lesson, seconds=f"{time.monotonic() - began:.0f}")
    failures = 0
    for name, exercise in described.exercises.items():
        missing = needs_a_person(name, exercise.points, "no grade")
        right, wrong = (found.get(student, {}).get(check_of(name), missing) for student in (SOLUTIONS, MISTAKES))
        known = next((one.name for one in exercise.mistakes if one.cell == mistakes[name]), "right")
        named = wrong.mistake_names or wrong.status
        failed = right.earned != exercise.points or named != known
        failures += failed
        points = f"{right.earned:g} of {exercise.points:g}"
        _show(f"  {name}", points, f"expected {known}, got {named}" if failed else named)
    return failures


def _run(root: Path, lesson: str) -> int:
    """Run a lesson with its solutions from top to bottom, and show how it went; returns the number of failures."""
    began, error = time.monotonic(), ""
    try:
        run(_solved(root, lesson), root / "release" / lesson)
    except CellExecutionError as stop:
        error = f"{stop.ename}: {stop.evalue}"
    _show(f"{lesson}, top to bottom", error or "no error", seconds=f"{time.monotonic() - began:.0f}")
    return int(bool(error))


def _solved(root: Path, lesson: str) -> NotebookNode:
    return nbformat.read(root / "source" / lesson / f"{lesson}.ipynb", as_version=4)


def _show(exercise: str, solution: str = "", mistake: str = "", seconds: str = "") -> None:
    """Print a row at once: a run that is stopped has shown what it did."""
    print(f"{exercise:<32}{solution:<12}{mistake:<48}{seconds:>7}".rstrip(), flush=True)


if __name__ == "__main__":
    sys.exit(main())
