"""Measure the strength of the graders, and write reports on it for teachers.

    build/reports/strength.json    the figures of every exercise
    build/reports/strength.md      the same as a page
    build/reports/tolerances.png   errors of correct and wrong answers, compared with the tolerance
    docs/grader-quality.md         the sums, in a course that has the page; the picture is in docs/images

Exercises that are not measured keep their figures.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch
from matplotlib.figure import Figure
from rich.progress import Progress

from grading.course_dir.fingerprints import packages
from grading.course_dir.lessons import list_lessons
from grading.exercises.lesson import load_lesson
from grading.proof.author_tables import filled_in
from grading.proof.mistakes_page import REPORTS
from grading.proof.parallel import run_in_parallel
from grading.proof.runner import fingerprints, prover, versions
from grading.proof.sync import chosen_exercises

from . import devices
from .error_margins import FRESH, measure
from .figures import Figures, figures, headline, measured, page

QUALITY = Path("docs") / "grader-quality.md"
SEEDS = len(FRESH)  # for measuring points and errors


def measure_course(root: Path, named: Iterable[str] = ()) -> int:
    """Prove and measure the exercises whose figures are out of date, and write all pages.

    named  as in `grading.proof.sync.sync`

    Returns the exit status, 1 if a proof fails. Raises CourseError.
    """
    strength, code, made_of = _before(root), packages(root / "grader_tests"), dict[str, str]()
    for lesson, names in chosen_exercises(root, named).items():
        graded, now = load_lesson(root / "grader_tests" / lesson).all_exercises, fingerprints(root, lesson, code)
        made_of |= {f"{lesson}/{name}": f"{now[name]} {versions()}" for name in names if name in graded}
    known = strength["exercises"]
    stale = [key for key, made in made_of.items() if known.get(key, {}).get("made of") != made]
    last_first, failed = sorted(stale, reverse=True), 0  # the last lessons take longest
    with Progress() as progress:
        row = progress.add_task("exercises measured", total=len(stale))
        for (_, lesson, name, _), done in run_in_parallel(
            strength_of, [(root, *key.split("/"), SEEDS) for key in last_first]
        ):
            if isinstance(done, Exception):
                raise done
            if isinstance(done, str):
                progress.console.print(done, markup=False, highlight=False, soft_wrap=True)
                failed = 1
            else:
                key = f"{lesson}/{name}"
                known[key] = done | {"made of": made_of[key]}
                _save(root, strength)  # after an interruption, the other exercises keep their old figures
            progress.advance(row)
    write(root, strength)
    return failed


def strength_of(root: Path, lesson: str, name: str, seeds: int) -> Figures | str:
    """The figures of one exercise, or the report of its proof if that fails."""
    made = prover(root, lesson)
    proof = made.prove(made.lesson.all_exercises[name])
    return f"{lesson} {proof}" if proof.problems else figures(proof) | measured_of(root, lesson, name, seeds)


def measured_of(root: Path, lesson: str, name: str, seeds: int) -> Figures:
    """Results of one exercise with many seeds, and on another device."""
    made = prover(root, lesson)
    exercise = made.lesson.all_exercises[name]
    right = made.correct_answers(exercise)
    return {
        "seeds": measured(measure(exercise, right, FRESH[:seeds])),
        "other device": devices.differing(exercise, right),
    }


def write(root: Path, strength: dict[str, Any]) -> None:
    """Write the figures, in the lessons' order, and the pages made from them."""
    order, exercises = _exercises(root), strength["exercises"]
    strength["exercises"] = {name: exercises[name] for name in order if name in exercises}
    _save(root, strength)
    (root / REPORTS / "strength.md").write_text(page(strength), encoding="utf-8")
    drawn = picture(strength["exercises"])
    drawn.savefig(root / REPORTS / "tolerances.png", metadata={"Software": None})
    quality = root / QUALITY
    if quality.is_file() and list(strength["exercises"]) == order:
        text = filled_in(quality.read_text(encoding="utf-8"), {"figures": headline(strength)})
        quality.write_text(text, encoding="utf-8")
        drawn.savefig(quality.parent / "images" / "tolerances.png", metadata={"Software": None})


def read_figures(root: Path) -> dict[str, Figures]:
    """The stored figures, by lesson/exercise."""
    path = root / REPORTS / "strength.json"
    known: dict[str, Figures] = json.loads(path.read_text(encoding="utf-8"))["exercises"] if path.is_file() else {}
    return known


def _exercises(root: Path) -> list[str]:
    described = [root / "grader_tests" / lesson for lesson in list_lessons(root)]
    return [f"{path.name}/{name}" for path in described if path.exists() for name in load_lesson(path).all_exercises]


def _before(root: Path) -> dict[str, Any]:
    """The stored figures, with today's versions, device and seeds."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "torch": torch.__version__,
        "cuda": devices.in_words(),
        "exercises": read_figures(root),
    }


def _save(root: Path, strength: dict[str, Any]) -> None:
    (root / REPORTS).mkdir(parents=True, exist_ok=True)
    text = json.dumps(strength, indent=1, ensure_ascii=False) + "\n"
    (root / REPORTS / "strength.json").write_text(text, encoding="utf-8")


def picture(exercises: Mapping[str, Figures]) -> Figure:
    """Plot errors of correct answers and mistakes as multiples of the tolerance.

    There is one pair for each exercise and dtype.
    """
    rows = {name: one["seeds"] for name, one in exercises.items() if "seeds" in one}
    figure = Figure(figsize=(8, 1.5 + 0.22 * len(rows)), layout="constrained")
    axes = figure.subplots()
    for marker, dtype in (("o", "float32"), ("s", "float64")):
        for color, kind in (("tab:green", "right"), ("tab:red", "wrong")):
            points = [(max(one[kind][dtype][0], 1e-6), -i) for i, one in enumerate(rows.values()) if dtype in one[kind]]
            xs, ys = [x for x, _ in points], [y for _, y in points]
            axes.scatter(xs, ys, s=18, color=color, marker=marker, label=f"{kind}, {dtype}")
    axes.axvline(1.0, color="black", linewidth=1)
    axes.set_xscale("log")
    axes.set_xlabel("error, as a multiple of what is allowed")
    axes.set_yticks([-i for i in range(len(rows))], [name.partition("/")[2] for name in rows], fontsize=7)
    axes.grid(alpha=0.3)
    figure.legend(loc="outside upper center", ncols=4, fontsize=8)
    return figure
