"""The class at a glance: students, lessons and points, and the mistakes that were made most, by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .judge.lesson import load_lesson
from .judge.verdict import ExerciseVerdict

Scores = Mapping[tuple[str, str], tuple[float, float]]
Waiting = Collection[tuple[str, str, str]]
NARROWEST = 8  # characters of a name in the table, however many lessons stand beside it


@dataclass(frozen=True)
class Graded:
    """One verdict with whose it is."""

    student: str
    lesson: str
    verdict: ExerciseVerdict


def frequent_mistakes(graded: list[Graded]) -> list[tuple[int, str, str, str, str]]:
    """(how many students, lesson, exercise, name, where to look), the most frequent first.

    Of two that were made at once each counts; what is only likely (`sure` is False) does not.
    """
    sure = [(g.lesson, g.verdict) for g in graded if g.verdict.sure]
    made = [(lesson, v.exercise, *one) for lesson, v in sure for one in ((v.mistake, v.see), (v.also, v.also_see))]
    counts = Counter(one for one in made if one[2])
    return [(count, *which) for which, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]


def show_class(
    root: Path,
    graded: list[Graded],
    scores: Scores,
    waiting: Waiting,
    ungraded: Collection[tuple[str, str]],
    console: Console,
    most: int = 3,
) -> None:
    """Print the table, the most frequent mistakes, and what a person has to look at.

    scores: points and maximum by student and lesson; waiting: student, lesson and exercise of each grade that a person
    is still to give; ungraded: student and lesson of what was handed in and has no grade.
    """
    if not graded and not ungraded:
        console.print("Nothing is graded yet: put submissions in submitted/<student>/<lesson>/ and run `make grade`.")
        return
    here = {(g.student, g.lesson) for g in graded}
    open_ = sorted(one for one in waiting if one[:2] in here)
    console.print(_table(here, scores, {one[:2] for one in open_}, console.width))
    for count, lesson, exercise, name, see in frequent_mistakes(graded)[:most]:
        named = name.replace("_", " ")
        console.print(Text.assemble(f"{count} × ", (named, "bold"), f" in {exercise} ({lesson}; see “{see}”)"))
        console.print(Text(f"    {_text(root, lesson, exercise, name)}"))
    if open_:
        console.print("* needs a person, in the formgrader:")
    for (student, lesson), names in groupby(open_, key=lambda one: one[:2]):
        console.print(Text(f"    {student}, {lesson}: {', '.join(name for *_, name in names)}"))
    loose = len({(g.student, g.lesson) for g in graded if not g.verdict.sandboxed})
    if loose:
        console.print(f"{loose} of these submissions {'was' if loose == 1 else 'were'} graded without the sandbox.")
    if ungraded:
        console.print("Handed in and not graded (`grading grade`):")
    for student, found in groupby(sorted(ungraded), key=lambda one: one[0]):
        console.print(Text(f"    {student}: {', '.join(lesson for _, lesson in found)}"))


def _table(graded: set[tuple[str, str]], scores: Scores, starred: set[tuple[str, str]], width: int) -> Table:
    """A row for a student, a column for a lesson, under its number where that tells it from the others."""
    students, lessons = sorted({student for student, _ in graded}), sorted({lesson for _, lesson in graded})
    numbers = Counter(lesson.split("_")[0] for lesson in lessons)
    heads = [number if numbers[number := lesson.split("_")[0]] == 1 else lesson for lesson in lessons]
    columns = []
    for lesson in lessons:
        stars = {student: "*" if (student, lesson) in starred else "" for student in students}
        pad = max(map(len, stars.values()))
        points = {s: _points(scores.get((s, lesson)) if (s, lesson) in graded else None) for s in students}
        columns.append([points[s] + stars[s].ljust(pad) for s in students])
    taken = sum(1 + max(map(len, (head, *column))) for head, column in zip(heads, columns, strict=True))
    table = Table(title="Points", box=SIMPLE_HEAD, padding=0, show_edge=False)
    table.add_column("student", no_wrap=True)
    for head in heads:
        table.add_column(Text(head), justify="right", no_wrap=True)
    for student, *cells in zip(students, *columns, strict=True):
        table.add_row(Text(shortened(student, max(NARROWEST, width - taken))), *cells)
    return table


def shortened(name: str, most: int = 24) -> str:
    """A long name without its middle: what tells people apart stands at both ends."""
    return name if len(name) <= most else f"{name[: most - most // 3 - 1]}…{name[-(most // 3) :]}"


def _points(score: tuple[float, float] | None) -> str:
    return f"{round(score[0], 2):g}/{score[1]:g}" if score else "–"


def _text(root: Path, lesson: str, exercise: str, mistake: str) -> str:
    known = load_lesson(root / "grader_tests" / lesson).exercises.get(exercise)
    return next((m.text for m in known.mistakes if m.name == mistake), "") if known else ""
