"""Show what a migration changes, with conflicts side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..authoring.lesson_pieces import Piece
from ..authoring.merge_lessons import LessonMerge
from ..authoring.three_way import Outcome
from .migrate_lessons import Migration

AROUND = 2  # unchanged lines to show above and below a difference
MOST = 40  # rows per piece
ABSENT = "(not there)"
UNKNOWN = (
    "The lessons that this course began with are not known, so a difference may be your change "
    "or the new version's. Name those lessons with `--base DIR` or `--base ZIP`."
)


def show_migration(plan: Migration, new: Path, console: Console) -> None:
    """Show what changes in the lessons.

    `new`: the new version, as the teacher named it.
    """
    for line in plan_lines(plan):
        console.print(Text(line), soft_wrap=True)
    for merge in plan.merge.merges.values():
        for piece in merge.conflicts:
            console.print(_side_by_side(merge.name, piece))
            console.print(Text(f"yours: {piece.path}; the new one: {new / piece.path}"), soft_wrap=True)


def plan_lines(plan: Migration) -> Iterator[str]:
    """Lines on the changes in each lesson, and on the rest with the reasons."""
    merge = plan.merge
    if not plan.based:
        yield UNKNOWN
    for what, names in (
        ("changed", [name for name, one in merge.merges.items() if one.files]),
        ("new", merge.new),
        ("only in your course, and kept", merge.own),
        ("no longer in the new version, and kept", merge.dropped),
        ("removed by you, and not added again", merge.removed),
    ):
        if names:
            yield f"{what}: {', '.join(names)}"
    told = [line for one in merge.merges.values() for line in _lesson_lines(one)]
    yield from told
    if not (told or merge.files):
        yield "The new version changes nothing in your lessons and graders."


def _lesson_lines(merge: LessonMerge) -> Iterator[str]:
    if merge.stays:
        yield f"{merge.name} stays unchanged: {merge.stays}"
        return
    taken = [piece for piece in merge.pieces if piece.outcome is Outcome.TAKEN and not piece.left]
    merged = [piece for piece in merge.pieces if piece.outcome is Outcome.MERGED and not piece.left]
    if taken:
        yield f"{merge.name}, from the new version: {'; '.join(_kinds(taken))}"
    for what, pieces in (
        ("changed by you and in the new version, in different lines; check the result", merged),
        ("changed by you and in the new version, in the same lines; yours is kept, and you decide", merge.conflicts),
        ("changed in the new version; yours is kept, because you decide on another part of the exercise", _left(merge)),
        ("removed by you, and not added again", _of(merge, Outcome.LEFT_OUT)),
    ):
        if pieces:
            yield f"{merge.name}, {what}: {'; '.join(_places(pieces))}"


def _left(merge: LessonMerge) -> list[Piece]:
    return [piece for piece in merge.pieces if piece.left]


def _of(merge: LessonMerge, outcome: Outcome) -> list[Piece]:
    return [piece for piece in merge.pieces if piece.outcome is outcome]


def _kinds(pieces: Iterable[Piece]) -> Iterator[str]:
    """Name each exercise and whether its text or its grader changes.

    After the exercises comes the number of other cells and files.
    """
    grouped: dict[str, list[str]] = {}
    for piece in pieces:
        grouped.setdefault(piece.exercise, []).append("text" if piece.path.startswith("source/") else "grader")
    lesson = grouped.pop("", [])
    yield from (f"{name} ({' and '.join(sorted({*kinds}))})" for name, kinds in sorted(grouped.items()))
    for kind, one, several in (("text", "other cell", "other cells"), ("grader", "common file", "common files")):
        if number := lesson.count(kind):
            yield f"{number} {one if number == 1 else several}"


def _places(pieces: Iterable[Piece]) -> Iterator[str]:
    """The pieces of each exercise, then those of the lesson itself."""
    grouped: dict[str, list[str]] = {}
    for piece in pieces:
        grouped.setdefault(piece.exercise, []).append(piece.place)
    for exercise, places in sorted(grouped.items(), key=lambda group: (not group[0], group[0])):
        listed = ", ".join(dict.fromkeys(places))
        yield f"{exercise} ({listed})" if exercise else listed


def _side_by_side(lesson: str, piece: Piece) -> Table:
    title = f"{lesson}, {piece.exercise}: {piece.place}" if piece.exercise else f"{lesson}: {piece.place}"
    table = Table("yours", "the new version's", box=SIMPLE_HEAD, title=Text(title), title_justify="left", expand=True)
    rows = list(_rows(_lines(piece.ours), _lines(piece.theirs)))
    for ours, theirs, differs in rows[:MOST]:
        table.add_row(Text(ours, style="red" if differs else "dim"), Text(theirs, style="green" if differs else "dim"))
    if len(rows) > MOST:
        table.add_row(f"… {len(rows) - MOST} more lines", "")
    return table


def _rows(ours: list[str], theirs: list[str]) -> Iterator[tuple[str, str, bool]]:
    """Rows of a side-by-side comparison, each with whether the lines differ.

    Leaves out equal lines that are not near a difference.
    """
    for group in SequenceMatcher(None, ours, theirs, autojunk=False).get_grouped_opcodes(AROUND):
        if group[0][1] or group[0][3]:
            yield "⋮", "⋮", False
        for tag, low, high, start, end in group:
            for i in range(max(high - low, end - start)):
                mine, other = ours[low:high], theirs[start:end]
                yield (mine[i] if i < len(mine) else ""), (other[i] if i < len(other) else ""), tag != "equal"


def _lines(text: str | None) -> list[str]:
    return [ABSENT] if text is None else text.splitlines()
