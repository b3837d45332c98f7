"""Tables of grades that change or have changed, for a terminal: who gains and who loses what, and what was before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..gradebook.history import PastGrade, ScoreSnapshot
from .recalculate import GradeChange

if TYPE_CHECKING:
    from ..lms.canvas_api import PushPlan

COLUMNS = ("lesson", "student", "before", "now", "")


def show_revised(found: Sequence[GradeChange], console: Console) -> None:
    """Those that come out otherwise, or could not be made, one by one, and how many there are."""
    table = Table(*COLUMNS, "what", box=SIMPLE_HEAD)
    for column in (2, 3, 4):
        table.columns[column].justify = "right"
    told = sorted((one for one in found if not one.same), key=lambda one: (bool(one.failed), one.gained))
    for one in told:
        change = Text(f"{one.gained:+g}" if one.gained else "", style="red" if one.gained < 0 else "green")
        points = ("", "") if one.failed else (shown_points(one.before), shown_points(one.now))
        table.add_row(one.lesson, Text(one.student), *points, change, Text("\n".join(_what(one))))
    if told:
        console.print(table)
    console.print(summary(found), soft_wrap=True)


def summary(found: Sequence[GradeChange]) -> str:
    """How many gain, lose, stay, and could not be made."""
    gain, lose = sum(one.gained > 0 for one in found), sum(one.gained < 0 for one in found)
    failed = sum(bool(one.failed) for one in found)
    parts = [f"{gain} gain", f"{lose} lose", f"{len(found) - gain - lose - failed} keep their points"]
    parts += [f"{failed} could not be graded and stay as they are"] if failed else []
    return (
        f"{len(found)} grades do not stand as things are now: {', '.join(parts)}." if found else "Every grade stands."
    )


def _what(one: GradeChange) -> list[str]:
    if one.failed:
        return [one.failed]
    by_hand = [name for name, score in one.now.exercises.items() if score.by_hand]
    late = f"taken off for being late: {one.before.penalty:g} before, {one.now.penalty:g} now"
    return [
        *one.differs,
        *([late] if one.before.penalty != one.now.penalty else []),
        *([f"by hand, and as it was: {', '.join(by_hand)}"] if by_hand else []),
        f"since {' and '.join(one.since)}",
    ]


def shown_points(standings: ScoreSnapshot) -> str:
    return f"{standings.points:g}{'*' if standings.open else ''}"


def show_history(
    past: Iterable[PastGrade], now: Mapping[tuple[str, str], tuple[float, float]], console: Console
) -> None:
    """past: in order; now: points and the maximum by (student, lesson)."""
    table = Table("student", "lesson", "graded", "points", "until", "and then", box=SIMPLE_HEAD)
    for (student, lesson), those in groupby(past, key=lambda was: (was.student, was.lesson)):
        for was in those:
            points = f"{shown_points(was.standings)}\n{', '.join(_exercises(was.standings))}"
            then = " and ".join(was.since) or "it was graded again"
            table.add_row(Text(student), lesson, _when(was.graded_at), Text(points), _when(was.replaced_at), then)
        if (student, lesson) in now:
            table.add_row(Text(student), lesson, "", f"{now[student, lesson][0]:g}", "", "stands now")
    console.print(table if table.row_count else "No grade has taken another's place.")


def _exercises(standings: ScoreSnapshot) -> Iterator[str]:
    for name, score in standings.exercises.items():
        points = "open" if score.points is None else f"{score.points:g}"
        yield f"{name} {points} {'by hand' if score.by_hand else score.found}".strip()


def show_push(plan: PushPlan, waiting: Sequence[str], console: Console) -> None:
    """What would be sent to an LMS, and who is left as they are."""
    table = Table("student", "there", "has", "gets", box=SIMPLE_HEAD)
    for one in sorted(plan.to_send, key=lambda one: one.student):
        table.add_row(Text(one.student), Text(f"{one.name} ({one.user})"), one.before or "–", one.now)
    if plan.to_send:
        console.print(table)
    head = f"{plan.assignment}, by {plan.by}: {len(plan.to_send)} to send, {plan.same} there as they are"
    console.print(Text(head), soft_wrap=True)
    for what, names in (
        ("an exercise needs a person, so left as they are", waiting),
        ("graded, and not in the course there", plan.unmatched),
        ("in the course there, and without points, so left as they are", plan.left),
    ):
        if names:
            console.print(Text(f"{what}: {', '.join(names)}"), soft_wrap=True)


def _when(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M}"
