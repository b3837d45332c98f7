"""Verbs for what the course holds about people: restore, export-student, forget, backup."""

from __future__ import annotations

import argparse

from grading.safe_text import say

from .arguments import Commands


def add_commands(commands: Commands) -> None:
    restore = commands.add(
        "restore", "Bring back a submission that a newer one replaced, or list what was replaced.", _restore
    )
    restore.add_argument("student", nargs="?", default="", metavar="STUDENT", help="whose (default: list everybody's)")
    restore.add_argument("lesson", nargs="?", default="", metavar="LESSON", help="of which lesson (default: list all)")
    restore.add_argument("--at", default="", metavar="TIME", help="which one, as listed (default: the last)")
    restore.add_argument("--list", action="store_true", help="only list what was replaced")


def _restore(options: argparse.Namespace) -> int:
    from ..coordinator.restore import restore
    from ..lms.replaced import list_replaced

    if options.list or not options.lesson:
        found = list_replaced(options.root, options.student, options.lesson)
        for one in found:
            say(f"{one.student}  {one.lesson}  {one.at}: {', '.join(one.files)} ({one.was}), replaced by {one.by}")
        if not found:
            say("nothing was replaced")
        return 0
    one = restore(options.root, options.student, options.lesson, options.at)
    say(f"{one.student}, {one.lesson}: {', '.join(one.files)} of {one.at} brought back ({one.was})")
    say("What was there is kept as well. `grading grade` grades what is there now.")
    return 0
