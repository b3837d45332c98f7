"""Verbs about people's data: restore, export-student, forget and backups."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from grading.safe_text import say

from .arguments import Commands, add_yes, confirmed, plural


def add_commands(commands: Commands) -> None:
    restore = commands.add(
        "restore", "Bring back a submission that a newer one replaced, or list what was replaced.", _restore
    )
    restore.add_argument("student", nargs="?", default="", metavar="STUDENT", help="whose (default: list everybody's)")
    restore.add_argument("lesson", nargs="?", default="", metavar="LESSON", help="of which lesson (default: list all)")
    restore.add_argument("--at", default="", metavar="TIME", help="which one, as listed (default: the last)")
    restore.add_argument("--list", action="store_true", help="only list what was replaced")

    export = commands.add("export-student", "Write all that the course holds about one person to a zip.", _export)
    export.add_argument("student", metavar="STUDENT", help="the person's id")
    export.add_argument("--to", type=Path, metavar="ZIP", help="zip to write (default: student-STUDENT.zip)")

    forget = commands.add("forget", "Show what the course holds about one person, and remove it.", _forget)
    forget.add_argument("student", metavar="STUDENT", help="the person's id")
    add_yes(forget, "remove it")

    backup = commands.add(
        "backup", "Back up the gradebook, submissions and settings, also while grading runs.", _backup
    )
    backup.add_argument(
        "--to", type=Path, metavar="FILE", help="file to write (default: backup-COURSE-TIME.tar.gz in this folder)"
    )

    unpack = commands.add(
        "restore-backup", "Check a backup, and unpack it into an empty directory.", _restore_backup, in_course=False
    )
    unpack.add_argument("file", type=Path, metavar="FILE", help="backup that `grading backup` wrote")
    unpack.add_argument(
        "directory", nargs="?", type=Path, metavar="DIR", help="empty or new directory (default: only check the backup)"
    )
    unpack.add_argument(
        "--load", action="store_true", help="also copy the gradebook into the empty database that the settings name"
    )


def _restore(options: argparse.Namespace) -> int:
    from ..coordinator.restore import restore
    from ..lms.replaced import list_replaced

    if options.list or not options.lesson:
        found = list_replaced(options.root, options.student, options.lesson)
        for replaced in found:
            files = f"{', '.join(replaced.files)} ({replaced.was}), replaced by {replaced.by}"
            say(f"{replaced.student}  {replaced.lesson}  {replaced.at}: {files}")
        if not found:
            say("nothing was replaced")
        return 0
    replaced = restore(options.root, options.student, options.lesson, options.at)
    files = f"{', '.join(replaced.files)} of {replaced.at}"
    say(f"{replaced.student}, {replaced.lesson}: {files} brought back ({replaced.was})")
    say("What was there is kept as well. `grading grade` grades what is there now.")
    return 0


def _export(options: argparse.Namespace) -> int:
    from ..coordinator.personal_data import export_student
    from ..course_dir.student_ids import why_unfit

    name = "student" if why_unfit(options.student) else f"student-{options.student}"
    to = options.to or Path(f"{name}.zip")
    found = export_student(options.root, options.student, to)
    say("\n".join(found.lines()))
    say(f"{to}: written, readable by you alone")
    _say_the_rest("also mentioned, in what is about others too, and not in the zip:", found.left)
    _say_the_rest("not in it, because it is outside the course:", found.outside)
    return 0


def _forget(options: argparse.Namespace) -> int:
    from ..coordinator.personal_data import find_personal_data, forget_student

    found = find_personal_data(options.root, options.student)
    say("\n".join(found.lines()))
    _say_the_rest("not removed, because it is outside the course:", found.outside)
    if not confirmed(options, f"remove all of this about {options.student}"):
        return 0
    left = forget_student(options.root, options.student).left
    say(f"{options.student}: removed from the course")
    if left:
        _say_the_rest("still mentioned in what is about others too; look at it, and delete what you do not need:", left)
    return int(bool(left))


def _say_the_rest(title: str, lines: Iterable[str]) -> None:
    """Print a list under a title on stderr, to keep it out of stdout."""
    if shown := list(lines):
        say("\n  ".join([title, *shown]), file=sys.stderr)


def _backup(options: argparse.Namespace) -> int:
    from ..coordinator.backup import back_up

    to = options.to or Path(f"backup-{options.root.name}-{datetime.now(UTC):%Y-%m-%d-%H%M%S}.tar.gz")
    found = back_up(options.root, to)
    say(f"{to}: {plural(found.grades, 'grade')}, {plural(found.submissions, 'submission')}")
    say("It holds the secret seed and all that is known of students: keep it to yourself. Only you can read it.")
    return _say_wrong(found.wrong)


def _restore_backup(options: argparse.Namespace) -> int:
    from ..coordinator.backup import load_gradebook, opens_its_own, restore_backup, verify

    if options.directory is None:
        found = verify(options.file)
        say(f"{options.file}: {plural(found.grades, 'grade')}, {plural(found.submissions, 'submission')}")
        return _say_wrong(found.wrong)
    found = restore_backup(options.file, options.directory)
    say(f"{options.directory}: {plural(found.grades, 'grade')}, {plural(found.submissions, 'submission')} restored")
    if options.load:
        rows = load_gradebook(options.directory.resolve())
        say(f"{plural(rows, 'row')} written into the database that nbgrader_config.py names")
    elif not opens_its_own(options.directory.resolve()):
        say(
            "Its nbgrader_config.py names another database, which may be the one in use. Take out db_url there to work "
            "with the gradebook.db of the backup; or name an empty database, and restore again with --load.",
            file=sys.stderr,
        )
        return 1
    return _say_wrong(found.wrong)


def _say_wrong(wrong: Sequence[str]) -> int:
    _say_the_rest("not whole:", wrong)
    return int(bool(wrong))
