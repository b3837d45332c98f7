"""The verb migrate: move to a new version of the lessons, resume or undo that."""

from __future__ import annotations

import argparse
from pathlib import Path

from grading.plural import plural
from grading.safe_text import say

from .arguments import Commands, add_json, add_yes, confirmed, emit
from .changes import change_record


def add_commands(commands: Commands) -> None:
    migrate = commands.add(
        "migrate",
        "Move to a new version of the lessons, after showing how it changes yours and the grades.",
        _migrate,
        example="migrate attention-0.3.0.zip",
    )
    what = migrate.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "new",
        nargs="?",
        type=Path,
        metavar="NEW",
        help="new version: a directory with source/ and grader_tests/, or a zip that GitHub made from a tag",
    )
    what.add_argument("--undo", action="store_true", help="lessons, releases and grades of before the last migration")
    what.add_argument("--resume", action="store_true", help="rest of a migration that was interrupted")
    migrate.add_argument(
        "--base",
        type=Path,
        metavar="FROM",
        help="lessons that the course began with: a directory or a zip (default: those that `grading init` kept)",
    )
    add_yes(migrate, "migrate or undo")
    add_json(migrate, "changed grade")


def _migrate(options: argparse.Namespace) -> int:
    if options.undo:
        return _undo(options)
    if options.resume:
        return _resume(options)
    from grading.safe_console import SafeConsole

    from ..coordinator.console_tables import show_revised
    from ..coordinator.migrate_lessons import Migration, migrate
    from ..coordinator.migration_tables import show_migration
    from ..cpu_count import cpu_count

    console = SafeConsole()

    def agreed(plan: Migration) -> bool:
        show_migration(plan, options.new, console)
        show_revised(plan.found, console)
        for change in plan.found:
            emit(options, "change", **change_record(change))
        return plan.changes and confirmed(options, "migrate the course and write these grades")

    done = migrate(options.root, options.new, agreed, console, base=options.base, workers=cpu_count())
    if done.kept:
        _say_done(done.kept.folder.name, done.written, done.kept.added)
        if done.needs_a_person:
            say(
                "Where the table leaves a choice to you, the course keeps your text; "
                f"{done.kept.folder.name}/new/ has the new one."
            )
    return int(done.needs_a_person)


def _resume(options: argparse.Namespace) -> int:
    from grading.safe_console import SafeConsole

    from ..coordinator.migrate_lessons import resume
    from ..cpu_count import cpu_count

    kept, written = resume(options.root, SafeConsole(), workers=cpu_count())
    _say_done(kept.folder.name, written, kept.added)
    return 0


def _say_done(folder: str, written: int, added: list[str]) -> None:
    say(
        f"{plural(written, 'grade')} written. {folder}/ has the old lessons, and `grading history` shows the old "
        "grades. `grading migrate --undo` undoes the migration."
    )
    if added:
        say(f"Run `grading release {' '.join(added)}` to release the new lessons.")


def _undo(options: argparse.Namespace) -> int:
    from grading.safe_console import SafeConsole

    from ..coordinator.undo_migration import Undoing, undo
    from ..cpu_count import cpu_count

    def agreed(plan: Undoing) -> bool:
        folder = plan.kept.folder.name
        say(f"{plural(len(plan.files), 'file')} will be restored from {folder}/.")
        for name, why in plan.stays.items():
            say(f"{name} stays unchanged: {why}")
        for path in plan.edited:
            say(f"{path} was changed after the migration; its present text will be in {folder}/after/{path}")
        if plan.release:
            say(f"will be released again: {', '.join(plan.release)}")
        return confirmed(options, "undo the migration")

    done = undo(options.root, agreed, SafeConsole(), workers=cpu_count())
    if done is None:
        return 0
    say(f"The lessons are restored. {plural(len(done.restored), 'earlier grade')} restored, {done.again} graded again.")
    return int(bool(done.plan.stays))
