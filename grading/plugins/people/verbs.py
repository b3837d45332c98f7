"""Verbs about people's data: export-student, forget and backups."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from grading.cli.arguments import Commands, add_yes, confirmed
from grading.safe_text import plural, say


def add_commands(commands: Commands) -> None:
    export = commands.add("export-student", _export, example="export-student ada --to ada.zip")
    export.add_argument("student", metavar="STUDENT", help="id of the student")
    export.add_argument("--to", type=Path, metavar="ZIP", help="zip to write (default: student-STUDENT.zip)")

    forget = commands.add("forget", _forget, example="forget ada")
    forget.add_argument("student", metavar="STUDENT", help="id of the student")
    add_yes(forget, "delete it")

    backup = commands.add("backup", _backup, example="backup --to monday.tar.gz")
    backup.add_argument(
        "--to", type=Path, metavar="FILE", help="file to write (default: backup-COURSE-TIME.tar.gz in this folder)"
    )

    unpack = commands.add(
        "restore-backup",
        _restore_backup,
        in_course=False,
        example="restore-backup monday.tar.gz restored",
    )
    unpack.add_argument("file", type=Path, metavar="FILE", help="backup that `grading backup` wrote")
    unpack.add_argument(
        "directory", nargs="?", type=Path, metavar="DIR", help="empty or new directory (default: only the check)"
    )
    unpack.add_argument(
        "--load", action="store_true", help="also a copy of the gradebook in the database that the settings name"
    )


def _export(options: argparse.Namespace) -> int:
    from grading.course_dir.student_ids import why_unfit

    from .personal_data import export_student

    name = "student" if why_unfit(options.student) else f"student-{options.student}"
    to = options.to or Path(f"{name}.zip")
    found = export_student(options.course, options.student, to)
    say("\n".join(found.lines()))
    say(f"{to}: written; only you can read it")
    _say_the_rest("not in the zip, because it is also about other students:", found.left)
    _say_the_rest("not in the zip, because it is outside the course:", found.outside)
    return 0


def _forget(options: argparse.Namespace) -> int:
    from .personal_data import find_personal_data, forget_student

    found = find_personal_data(options.course, options.student)
    say("\n".join(found.lines()))
    _say_the_rest("not deleted, because it is outside the course:", found.outside)
    if not confirmed(options, f"delete all of this about {options.student}"):
        return 0
    left = forget_student(options.course, options.student).left
    say(f"{options.student}: deleted from the course")
    if left:
        _say_the_rest("not deleted, because it is also about other students; delete what you do not need:", left)
    return int(bool(left))


def _say_the_rest(title: str, lines: Iterable[str]) -> None:
    """Print a list under a title on stderr, to keep it out of stdout."""
    if shown := list(lines):
        say("\n  ".join([title, *shown]), file=sys.stderr)


def _backup(options: argparse.Namespace) -> int:
    from .backup import back_up

    to = options.to or Path(f"backup-{options.course.root.name}-{datetime.now(UTC):%Y-%m-%d-%H%M%S}.tar.gz")
    found = back_up(options.course, to)
    say(f"{to}: {plural(found.grades, 'grade')}, {plural(found.submissions, 'submission')}")
    say("The file has the secret seed and all data about students. Only you can read it: keep it secret.")
    return _say_wrong(found.wrong)


def _restore_backup(options: argparse.Namespace) -> int:
    from grading.course import Course

    from .backup import load_gradebook, opens_its_own, restore_backup, verify

    if options.directory is None:
        found = verify(options.file)
        say(f"{options.file}: {plural(found.grades, 'grade')}, {plural(found.submissions, 'submission')}")
        return _say_wrong(found.wrong)
    found = restore_backup(options.file, options.directory)
    say(f"{options.directory}: {plural(found.grades, 'grade')}, {plural(found.submissions, 'submission')} restored")
    if options.load:
        rows = load_gradebook(Course(options.directory.resolve()))
        say(f"{plural(rows, 'row')} written to the database that nbgrader_config.py names")
    elif not opens_its_own(Course(options.directory.resolve())):
        say(
            f"{options.directory}/nbgrader_config.py names another database, which may be the one in use. To work with "
            "the gradebook.db of the backup, delete the line with db_url. To load the backup into a database, name an "
            "empty one there and restore again with --load.",
            file=sys.stderr,
        )
        return 1
    return _say_wrong(found.wrong)


def _say_wrong(wrong: Sequence[str]) -> int:
    _say_the_rest("incomplete or damaged:", wrong)
    return int(bool(wrong))
