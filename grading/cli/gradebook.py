"""The verb gradebook, which writes everybody's points to one file."""

from __future__ import annotations

import argparse
from itertools import groupby
from pathlib import Path

from grading.safe_text import plural, say

from .arguments import DONE, NEEDS_A_PERSON, Commands, add_json, add_lessons, add_students, emit


def add_commands(commands: Commands) -> None:
    gradebook = commands.add("gradebook", _gradebook, example="gradebook points.csv --total")
    gradebook.add_argument("file", type=Path, metavar="FILE", help="CSV file to write")
    add_lessons(gradebook, ordinary=True, last=True, default="all released lessons")
    add_students(gradebook)
    gradebook.add_argument(
        "--scale", type=_points, metavar="POINTS", help="points that each lesson is scaled to (default: its own points)"
    )
    gradebook.add_argument("--total", action="store_true", help="also each student's total, and the possible total")
    gradebook.add_argument(
        "--provisional",
        action="store_true",
        help="also points of submissions that a person has not fully graded yet (default: left out)",
    )
    add_json(gradebook, "person")


def _points(text: str) -> float:
    try:
        points = float(text)
    except ValueError:
        points = 0.0
    if not 0 < points < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number of points above 0, got {text}")
    return points


def _gradebook(options: argparse.Namespace) -> int:
    from ..coordinator.gradebook_file import write_gradebook

    done = write_gradebook(
        options.course,
        options.file,
        options.lessons,
        students=options.students,
        scale=options.scale,
        total=options.total,
        provisional=options.provisional,
    )
    for row in done.rows:
        person = {"student": row["student_id"], "missing": row["missing"].split()}
        points = {name: row[name] for name in options.lessons if isinstance(row.get(name), float)}
        emit(options, "person", **person, points=points, total=row.get("total"), out_of=row.get("out_of"))
    say(f"{options.file}: written, {plural(len(done.rows), 'row')}")
    for what, pairs in (
        ("not handed in", done.missing),
        ("not graded yet", done.not_graded),
        ("provisional, because a person has not graded everything yet", done.provisional),
    ):
        for lesson, group in groupby(sorted(pairs), key=lambda pair: pair[0]):
            say(f"{lesson}, {what}: {', '.join(student for _, student in group)}")
    return NEEDS_A_PERSON if done.not_graded or done.provisional else DONE
