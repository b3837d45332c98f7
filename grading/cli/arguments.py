"""Declare verbs, with the arguments and helpers that several of them share."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from grading.safe_text import say

from ..plugin import Verb

Handler = Callable[[argparse.Namespace], int]

DONE, NEEDS_A_PERSON, NOT_DONE = 0, 1, 2  # exit statuses; after Ctrl-C `main` returns 130


class Commands:
    """The verbs of the `grading` command."""

    def __init__(self, parser: argparse.ArgumentParser, verbs: Mapping[str, Verb]) -> None:
        self._verbs = parser.add_subparsers(
            dest="verb", metavar="VERB", required=True, help=argparse.SUPPRESS, prog=parser.prog
        )
        self._summaries = {name: verb.summary for name, verb in verbs.items()}

    def add(
        self,
        name: str,
        handler: Handler,
        *,
        example: str,
        in_course: bool = True,
        configured: bool | None = None,
        for_others: bool = False,
    ) -> argparse.ArgumentParser:
        """Declare a verb; returns its parser.

        handler     runs the verb, and returns the exit status: DONE, NEEDS_A_PERSON or NOT_DONE
        example     a command that works, without `grading`: the last line of the verb's help
        in_course   whether it needs a course, which is then `options.course`, and its folder `options.root`
        configured  whether it reads nbgrader_config.py and takes `--Class.trait=value` (default: as `in_course`)
        for_others  whether it writes a folder that a web server may read
        """
        verb: argparse.ArgumentParser = self._verbs.add_parser(
            name,
            description=self._summaries[name],
            epilog=f"example:\n  grading {example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        verb.set_defaults(
            handler=handler,
            in_course=in_course,
            configured=in_course if configured is None else configured,
            for_others=for_others,
        )
        if in_course:
            verb.add_argument(
                "--course",
                dest="course_folder",
                type=Path,
                metavar="DIR",
                help="course directory (default: this folder or one above it)",
            )
        return verb


def add_lessons(
    verb: argparse.ArgumentParser, *, ordinary: bool = False, last: bool = False, default: str = "all"
) -> None:
    """Add LESSON….

    `find_selected` turns them into `options.lessons`, or all lessons if none is named; `options.every_lesson` is then
    true.

    ordinary  whether ordinary nbgrader assignments count as lessons
    last      whether another argument comes before it
    """
    lessons = verb.add_argument(
        "lessons", nargs="+" if last else "*", default=[], metavar="LESSON", help=f"lessons (default: {default})"
    )
    lessons.required = False  # after another argument, `*` would end at the first option
    verb.set_defaults(ordinary=ordinary)


def add_lesson(verb: argparse.ArgumentParser, about: str) -> None:
    """Add LESSON, which `find_selected` looks up, as `options.lesson`.

    Ordinary assignments count as lessons. `about`: its help, such as "lesson whose points to send".
    """
    verb.add_argument("lesson", metavar="LESSON", help=about)
    verb.set_defaults(ordinary=True)


def selected(options: argparse.Namespace, student: str) -> bool:
    """Whether --students names this student, or nobody."""
    return not options.students or student in options.students


def add_students(verb: argparse.ArgumentParser, *, required: bool = False) -> None:
    """Add --students STUDENT…, as `options.students`; None means all.

    `find_selected` checks that each of them exists. `required`: STUDENT… without an option.
    """
    name, about = ("students", "") if required else ("--students", " (default: all)")
    verb.add_argument(name, nargs="+", metavar="STUDENT", help=f"ids of students{about}")
    verb.set_defaults(demand_students=True)


def find_selected(options: argparse.Namespace) -> None:
    """Look up the lessons and students that the arguments name.

    Raises CourseError or StepFailed, with a similar name, if one does not exist.
    """
    if hasattr(options, "lessons"):
        options.every_lesson = not options.lessons
        options.lessons = _known_lessons(options.root, options.lessons, ordinary=options.ordinary)
    elif hasattr(options, "ordinary"):
        (options.lesson,) = _known_lessons(options.root, [options.lesson], ordinary=True)
    if getattr(options, "demand_students", False) and options.students:
        options.students = list(dict.fromkeys(options.students))
        options.course.demand_students(options.students)


def _known_lessons(root: Path, named: list[str], *, ordinary: bool) -> list[str]:
    """These lessons in the course's order, or all.

    Raises CourseError, with a similar name, if one does not exist.
    """
    from difflib import get_close_matches

    from ..course_dir.lessons import list_lessons
    from ..errors import CourseError

    there = list_lessons(root, ordinary=ordinary)
    for name in named:
        if name not in there and (near := get_close_matches(name, there, 1)):
            raise CourseError(f"no lesson {name}; did you mean {near[0]}? The lessons are {', '.join(there)}")
    return list_lessons(root, named, ordinary=ordinary)


def add_workers(verb: argparse._ActionsContainer, items: str) -> None:
    verb.add_argument(
        "--workers", type=_positive, default=0, metavar="N", help=f"number of {items} at a time (default: one per CPU)"
    )


def add_workers_or_scheduler(verb: argparse.ArgumentParser) -> None:
    where = verb.add_mutually_exclusive_group()
    where.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        default="",
        help="Dask scheduler of a cluster to grade on (default: this machine)",
    )
    add_workers(where, "submissions")


def add_unsandboxed(verb: argparse._ActionsContainer) -> None:
    verb.add_argument(
        "--unsandboxed",
        action="store_true",
        help="no sandbox: student code can do everything that you can, and every grade is marked (default: sandbox)",
    )


def add_yes(verb: argparse.ArgumentParser, action: str) -> None:
    verb.add_argument("--yes", action="store_true", help=f"no question: {action} at once (default: show, then ask)")


def add_json(verb: argparse.ArgumentParser, record: str) -> None:
    """Add --json.

    The handler calls `emit` for each record, and everything else that it prints goes to stderr. `record`: the subject
    of one record, such as "submission"; docs/json.md has its fields.
    """
    verb.add_argument(
        "--json", action="store_true", help=f"one line of JSON per {record}; everything else goes to stderr"
    )


def emit(options: argparse.Namespace, record: str, **fields: Any) -> None:
    """Print a record as a line of JSON if --json is given.

    `record`: its name in docs/json.md.
    """
    if options.json:
        import json

        line: Mapping[str, Any] = {"record": record, **fields}
        say(json.dumps(line, default=str), file=options.stdout, flush=True)


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, got {text}")
    return int(text)


def confirmed(options: argparse.Namespace, action: str) -> bool:
    """Whether to go on: by --yes, or by an answer typed at a terminal.

    `action`: for example "write these grades".
    """
    if options.yes:
        return True
    if sys.stdin is not None and sys.stdin.isatty():
        with suppress(EOFError):
            return input(f"{action[0].upper()}{action[1:]}? Type yes to confirm: ").strip().casefold() == "yes"
        return False
    say(f"Nothing has changed yet. To {action}, run the command again with --yes.")
    return False
