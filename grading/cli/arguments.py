"""How verbs are declared, and what several groups of them share: arguments, confirmation, plurals."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from grading.safe_text import say

Handler = Callable[[argparse.Namespace], int]


class Commands:
    """The verbs of the `grading` command, in the order in which they are added."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self._verbs = parser.add_subparsers(dest="verb", metavar="VERB", title="verbs", required=True)

    def add(self, name: str, summary: str, handler: Handler, *, in_course: bool = True) -> argparse.ArgumentParser:
        """Declare a verb; returns its parser.

        summary    one imperative line
        handler    does it, and returns the exit status
        in_course  whether it needs a course directory, which is then `options.root`
        """
        verb: argparse.ArgumentParser = self._verbs.add_parser(name, help=summary, description=summary)
        verb.set_defaults(handler=handler, in_course=in_course)
        if in_course:
            verb.add_argument(
                "--course", type=Path, metavar="DIR", help="course directory (default: this folder or one above it)"
            )
        return verb


def add_lessons(verb: argparse.ArgumentParser, *, ordinary: bool = False) -> None:
    """Add LESSON…, which `main` looks up in the course: `options.lessons`.

    ordinary  whether ordinary nbgrader assignments count as lessons
    """
    verb.add_argument("lessons", nargs="*", metavar="LESSON", help="lessons (default: all)")
    verb.set_defaults(ordinary=ordinary)


def add_students(verb: argparse.ArgumentParser) -> None:
    """Add --students STUDENT…, each of whom `main` demands in the course: `options.students`, None for all."""
    verb.add_argument("--students", nargs="+", metavar="STUDENT", help="ids of students (default: all)")
    verb.set_defaults(known_students=True)


def add_workers(verb: argparse._ActionsContainer, items: str) -> None:
    verb.add_argument(
        "--workers", type=_positive, default=0, metavar="N", help=f"{items} at a time (default: one per processor)"
    )


def add_unsandboxed(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--unsandboxed",
        action="store_true",
        help="no sandbox: student code can do everything that you can, and every grade is marked",
    )


def add_yes(verb: argparse.ArgumentParser, action: str) -> None:
    verb.add_argument("--yes", action="store_true", help=f"{action} without asking (default: show and ask)")


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"not a number of workers: {text}")
    return int(text)


def confirmed(options: argparse.Namespace, action: str) -> bool:
    """Whether to do what was shown: given --yes, or typed at a terminal. action: "write these grades"."""
    if options.yes:
        return True
    if sys.stdin is not None and sys.stdin.isatty():
        with suppress(EOFError):
            return input(f"{action[0].upper()}{action[1:]}? Type yes to confirm: ").strip().casefold() == "yes"
        return False
    say(f"Nothing is changed yet. To {action}, run the command again with --yes.")
    return False


def plural(number: int, noun: str) -> str:
    """The number and its noun: "1 grade", "2 grades"."""
    return f"{number} {noun}{'s' * (number != 1)}"
