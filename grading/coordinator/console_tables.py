"""Console tables of grade changes and of the history of grades."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from zoneinfo import ZoneInfo

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from grading.safe_text import plural

from ..course_dir.course_time import shown
from ..gradebook.history import PastGrade, ScoreSnapshot
from ..points import points_text
from .recalculate import GradeChange

COLUMNS = ("lesson", "student", "before", "now", "")


def show_revised(found: Sequence[GradeChange], console: Console) -> None:
    """Show each grade that changes or that could not be computed, and a summary."""
    table = Table(*COLUMNS, "what", box=SIMPLE_HEAD)
    for column in (2, 3, 4):
        table.columns[column].justify = "right"
    rows = sorted(
        (change for change in found if not change.same), key=lambda change: (bool(change.failed), change.gained)
    )
    for change in rows:
        difference = Text(
            f"{'+' if change.gained > 0 else ''}{points_text(change.gained)}" if change.gained else "",
            style="red" if change.gained < 0 else "green",
        )
        points = ("", "") if change.failed else (shown_points(change.before), shown_points(change.now))
        table.add_row(change.lesson, Text(change.student), *points, difference, Text("\n".join(_change_lines(change))))
    if rows:
        console.print(table)
    console.print(summary(found), soft_wrap=True)


def summary(found: Sequence[GradeChange]) -> str:
    """Count the grades that go up, go down, stay, or could not be computed."""
    gain, lose = sum(change.gained > 0 for change in found), sum(change.gained < 0 for change in found)
    failed = sum(bool(change.failed) for change in found)
    same = len(found) - gain - lose - failed
    parts = [f"{gain} higher", f"{lose} lower", f"{same} the same"]
    parts += [f"{failed} could not be graded and keep their old grade"] if failed else []
    return (
        f"Out of date: {plural(len(found), 'grade')}. With the current graders and settings: {', '.join(parts)}."
        if found
        else "Every grade is up to date."
    )


def _change_lines(change: GradeChange) -> list[str]:
    if change.failed:
        return [change.failed]
    by_hand = [name for name, score in change.now.exercises.items() if score.by_hand]
    penalties = [points_text(snapshot.penalty) for snapshot in (change.before, change.now)]
    return [
        *change.differs,
        *(["late penalty: {} before, {} now".format(*penalties)] if len(set(penalties)) > 1 else []),
        *([f"by hand, unchanged: {', '.join(by_hand)}"] if by_hand else []),
        f"because {' and '.join(change.since)}",
    ]


def shown_points(standings: ScoreSnapshot) -> str:
    return f"{points_text(standings.points)}{'*' if standings.open else ''}"


def show_history(
    past: Iterable[PastGrade],
    now: Mapping[tuple[str, str], tuple[float, float]],
    console: Console,
    zone: ZoneInfo,
) -> None:
    """Show replaced grades. `now`: (points, maximum) by (student, lesson); `zone`: the course's time zone."""
    table = Table("student", "lesson", "graded", "points", "until", "and then", box=SIMPLE_HEAD)
    for (student, lesson), grades in groupby(past, key=lambda past_grade: (past_grade.student, past_grade.lesson)):
        for past_grade in grades:
            points = f"{shown_points(past_grade.standings)}\n{', '.join(_exercises(past_grade.standings))}"
            then = " and ".join(past_grade.since) or "it was graded again"
            begun, ended = (shown(at.replace(second=0), zone) for at in (past_grade.graded_at, past_grade.replaced_at))
            table.add_row(Text(student), lesson, begun, Text(points), ended, then)
        if (student, lesson) in now:
            table.add_row(Text(student), lesson, "", points_text(now[student, lesson][0]), "", "current grade")
    console.print(table if table.row_count else "No grade was replaced.")


def _exercises(standings: ScoreSnapshot) -> Iterator[str]:
    for name, score in standings.exercises.items():
        points = "open" if score.points is None else f"{points_text(score.points)}{'*' if score.open else ''}"
        yield f"{name} {points} {'by hand' if score.by_hand else score.found}".strip()
