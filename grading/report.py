"""The class at a glance: students, lessons and points, and the mistakes that were made most, by name."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from .judge.exercise import load_lesson
from .judge.verdict import MIME, ExerciseVerdict

Scores = Mapping[tuple[str, str], tuple[float, float]]


@dataclass(frozen=True)
class Graded:
    """One verdict with whose it is."""

    student: str
    lesson: str
    verdict: ExerciseVerdict


def verdicts(root: Path) -> Iterator[Graded]:
    """All verdicts in autograded/."""
    for path in sorted((root / "autograded").glob("*/*/*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if not cell["metadata"].get("nbgrader", {}).get("grade"):
                continue  # what a student's own cell shows may look like a verdict and is none
            for output in cell.get("outputs", []):
                found = output.get("data", {}).get(MIME)
                if found:
                    yield Graded(path.parts[-3], path.parts[-2], ExerciseVerdict.from_json(found))


def frequent_mistakes(graded: list[Graded]) -> list[tuple[int, str, str, str, str]]:
    """(how many students, lesson, exercise, name, where to look), the most frequent first."""
    made = [(g.lesson, g.verdict) for g in graded if g.verdict.mistake]
    counts = Counter((lesson, v.exercise, v.mistake, v.see) for lesson, v in made)
    return [(count, *which) for which, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]


def show_class(root: Path, scores: Scores, console: Console, most: int = 3) -> None:
    """Print the table, the most frequent mistakes, and where to look next."""
    graded = list(verdicts(root))
    lessons = sorted({g.lesson for g in graded})
    if not graded:
        console.print("Nothing is graded yet: put submissions in submitted/<student>/<lesson>/ and run `make grade`.")
        return
    table = Table(title="Points")
    table.add_column("student")
    for lesson in lessons:
        table.add_column(lesson, justify="right")
    table.add_column("needs a person")
    for student in sorted({g.student for g in graded}):
        waiting = [g.verdict.exercise for g in graded if g.student == student and g.verdict.status == "needs a person"]
        cells = [_points(scores.get((student, lesson))) for lesson in lessons]
        table.add_row(student, *cells, ", ".join(waiting))
    console.print(table)
    for count, lesson, exercise, name, see in frequent_mistakes(graded)[:most]:
        console.print(f"{count} × [bold]{name.replace('_', ' ')}[/bold] in {exercise} ({lesson}; see “{see}”)")
        console.print(f"    {_text(root, lesson, exercise, name)}", highlight=False)


def _points(score: tuple[float, float] | None) -> str:
    return f"{score[0]:g} of {score[1]:g}" if score else "–"


def _text(root: Path, lesson: str, exercise: str, mistake: str) -> str:
    known = load_lesson(root / "grader_tests" / f"{lesson}.py").exercises.get(exercise)
    return next((m.text for m in known.mistakes if m.name == mistake), "") if known else ""
