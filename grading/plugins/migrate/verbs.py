"""The verb migrate: move to a new version of the lessons, or undo that."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterator
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING

from grading.cli.arguments import Commands, add_json, add_yes, confirmed, emit
from grading.cli.changes import change_record
from grading.safe_text import plural, say

if TYPE_CHECKING:
    from .merge_lessons import Conflict, LessonMerge
    from .migrate_lessons import Migration


def add_commands(commands: Commands) -> None:
    migrate = commands.add("migrate", _migrate, example="migrate attention-0.3.0.zip")
    what = migrate.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "new",
        nargs="?",
        type=Path,
        metavar="NEW",
        help="new version: a directory with source/ and grader_tests/, or a zip that GitHub made from a tag",
    )
    what.add_argument(
        "--undo",
        action="store_true",
        help="lessons, releases and grades of before the last migration, also if it was interrupted",
    )
    migrate.add_argument(
        "--base",
        type=Path,
        metavar="FROM",
        help="lessons that the course began with: a directory or a zip (default: those that `grading init` kept)",
    )
    add_yes(migrate, "migrate or undo")
    add_json(migrate, "changed grade")


def _migrate(options: argparse.Namespace) -> int:
    from grading.coordinator.console_tables import show_revised
    from grading.cpu_count import cpu_count
    from grading.safe_console import SafeConsole

    from .migrate_lessons import migrate, undo

    console = SafeConsole()

    def agreed(plan: Migration) -> bool:
        for line in _undo_lines(plan) if options.undo else _lines(plan, options.new):
            say(line)
        show_revised(plan.found, console)
        for change in plan.found:
            emit(options, "change", **change_record(change))
        what = "undo the migration" if options.undo else "migrate the course"
        return plan.changes and confirmed(options, f"{what} and write these grades")

    if options.undo:
        done = undo(options.course, agreed, console, workers=cpu_count())
        if done.made:
            say(f"The lessons are restored. {plural(done.written, 'grade')} written.")
        return int(done.needs_a_person or any(merge.stays for merge in done.merge.merges.values()))
    done = migrate(options.course, options.new, agreed, console, base=options.base, workers=cpu_count())
    if done.made:
        say(
            f"{plural(done.written, 'grade')} written. {done.backup}/ has the old lessons, and `grading history` shows "
            "the old grades. `grading migrate --undo` undoes the migration."
        )
        if done.merge.new:
            say(f"Run `grading release {' '.join(done.merge.new)}` to release the new lessons.")
        if done.needs_a_person:
            say(f"Where a choice is left to you, the course keeps your text; {done.backup}/new/ has the new one.")
    return int(done.needs_a_person)


def _lines(plan: Migration, new: Path) -> Iterator[str]:
    """Lines on the changes in each lesson, and on the rest with the reasons; then the conflicts.

    `new`: the new version, as the teacher named it.
    """
    merge = plan.merge
    if not plan.based:
        yield (
            "The lessons that this course began with are not known, so a difference may be your change or the new "
            "version's. Name those lessons with `--base DIR` or `--base ZIP`."
        )
    yield from _listed(
        ("changed", [name for name, one in merge.merges.items() if one.files and name not in merge.new]),
        ("new", merge.new),
        ("only in your course, and kept", merge.own),
        ("no longer in the new version, and kept", merge.dropped),
        ("removed by you, and not added again", merge.removed),
    )
    about = [line for one in merge.merges.values() for line in _lesson_lines(one)]
    yield from about
    if not (about or merge.files):
        yield "The new version changes nothing in your lessons and graders."
    for one in merge.merges.values():
        for conflict in one.conflicts:
            yield f"\n{one.name}, {_place(conflict)}"
            ours, theirs = ((text or "").splitlines() for text in (conflict.ours, conflict.theirs))
            names = f"yours: {conflict.path}", f"the new one: {new / conflict.path}"
            yield from unified_diff(ours, theirs, names[0], names[1], lineterm="")


def _undo_lines(plan: Migration) -> Iterator[str]:
    folder = plan.backup
    yield f"{plural(len(plan.merge.files), 'file')} will be restored from {folder}/."
    yield f"Your present lessons, with every change since the migration, will be in {folder}/after/."
    yield from (line for merge in plan.merge.merges.values() for line in _lesson_lines(merge))
    yield from _listed(("will be released again", plan.release))


def _lesson_lines(merge: LessonMerge) -> Iterator[str]:
    if merge.stays:
        yield f"{merge.name} stays unchanged: {merge.stays}"
        return
    clashes = [_place(conflict) for conflict in merge.conflicts]
    yield from _listed(
        (f"{merge.name}, from the new version", merge.taken),
        (f"{merge.name}, changed by you and in the new version, in different lines; check the result", merge.merged),
        (f"{merge.name}, removed by you, and not added again", merge.removed),
        (f"{merge.name}, changed by both in the same lines; yours is kept, and you decide", clashes),
    )


def _listed(*groups: tuple[str, Collection[str]]) -> Iterator[str]:
    for what, names in groups:
        if names:
            yield f"{what}: {', '.join(name or 'the lesson itself' for name in names)}"


def _place(conflict: Conflict) -> str:
    exercises = ", ".join(sorted(conflict.exercises))
    return f"{exercises} ({conflict.place})" if exercises else conflict.place
