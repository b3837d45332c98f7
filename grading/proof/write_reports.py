"""`grading strength`: proves and measures, and writes what teachers read of it.

    docs/strength.json          the figures of every exercise
    docs/strength.md            the same as a page
    docs/images/tolerances.png  errors of right and wrong answers beside what is allowed
    docs/mistakes.md            all known mistakes with their sentences

Lessons and exercises that are not named keep the figures that they had.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from matplotlib.figure import Figure

from ..course_dir.paths import lessons
from ..exercises.lesson import load_lesson
from . import devices, mistakes_page
from .error_margins import FRESH, measure
from .parallel import side_by_side
from .report_data import Figures, measured, page
from .runner import Found, check, prover


def publish(root: Path, names: Iterable[str], only: str = "", *, seeds: int) -> list[Found]:
    """Prove and measure these lessons, and write all pages; what was found, with its problems.

    only   name of one exercise
    seeds  how many fresh ones points and errors are measured with, at most a hundred; 0 leaves those figures out
    """
    found = check(root, names, only)
    strength = _before(root)
    proved = {f"{one.lesson}/{one.exercise}": one.figures for one in found}
    if not seeds:
        strength["exercises"] |= proved
    last_first = sorted(found, key=lambda one: one.lesson, reverse=True)  # the last lessons take longest
    wanted = [(root, one.lesson, one.exercise, seeds) for one in last_first if seeds and one.exercise]
    for (_, lesson, exercise, _), done in side_by_side(measured_of, wanted):
        if isinstance(done, Exception):
            raise done
        print(f"{lesson} {exercise}: measured", flush=True)
        key = f"{lesson}/{exercise}"
        strength["exercises"][key] = proved[key] | done
        _save(root, strength)  # whoever is interrupted keeps these, and what there was of those that are left
    write(root, strength)
    return found


def measured_of(root: Path, lesson: str, name: str, seeds: int) -> Figures:
    """What many seeds, and another device, say of one exercise."""
    made = prover(root, lesson)
    exercise = made.lesson.all_exercises[name]
    right = made.right(exercise)
    return {
        "seeds": measured(measure(exercise, right, FRESH[:seeds])),
        "other device": devices.differing(exercise, right),
    }


def write(root: Path, strength: dict[str, Any]) -> None:
    """Write the figures, in the lessons' order, and the pages that are made of them."""
    described = [root / "grader_tests" / lesson for lesson in lessons(root)]
    order = [f"{path.name}/{name}" for path in described if path.exists() for name in load_lesson(path).all_exercises]
    exercises = strength["exercises"]
    strength["exercises"] = {name: exercises[name] for name in order if name in exercises}
    (root / "docs" / "images").mkdir(parents=True, exist_ok=True)
    _save(root, strength)
    _write(root / "docs" / "strength.md", page(strength))
    mistakes_page.write(root)
    picture(strength["exercises"]).savefig(root / "docs" / "images" / "tolerances.png", metadata={"Software": None})


def _before(root: Path) -> dict[str, Any]:
    """The figures that there are, with what is measured with from now on."""
    path = root / "docs" / "strength.json"
    known = json.loads(path.read_text(encoding="utf-8"))["exercises"] if path.exists() else {}
    return {"torch": torch.__version__, "cuda": devices.in_words(), "exercises": known}


def _save(root: Path, strength: dict[str, Any]) -> None:
    _write(root / "docs" / "strength.json", json.dumps(strength, indent=1, ensure_ascii=False))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.rstrip("\n") + "\n", encoding="utf-8")


def picture(exercises: Mapping[str, Figures]) -> Figure:
    """Errors of right answers and of mistakes, for each exercise and dtype, as multiples of what is allowed."""
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
