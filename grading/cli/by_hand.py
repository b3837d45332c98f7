"""The verb reopen, about grades that a person gives."""

from __future__ import annotations

import argparse

from grading.safe_text import say

from .arguments import DONE, Commands


def add_commands(commands: Commands) -> None:
    reopen = commands.add(
        "reopen",
        _reopen,
        example='reopen ada 02_softmax softmax --because "asked about the second criterion"',
    )
    reopen.add_argument("student", metavar="STUDENT", help="id of the student")
    reopen.add_argument("lesson", metavar="LESSON", help="lesson whose grade to reopen")
    reopen.add_argument(
        "exercise",
        nargs="?",
        default="",
        metavar="EXERCISE",
        help="exercise or question to reopen (default: the whole lesson)",
    )
    reopen.add_argument("--because", required=True, metavar="TEXT", help="reason, shown in the report and the history")


def _reopen(options: argparse.Namespace) -> int:
    from ..coordinator.reopen import reopen
    from ..errors import StepFailed

    if not options.because.strip():
        raise StepFailed('--because is empty. Give a reason, such as --because "asked about the second criterion"')
    names = reopen(options.course, options.student, options.lesson, options.exercise, options.because.strip())
    verb = "is" if len(names) == 1 else "are"
    say(
        f"{options.student}, {options.lesson}: {', '.join(names)} {verb} open again. The points are provisional until "
        "a person has graded again. `grading report` lists open grades."
    )
    return DONE
