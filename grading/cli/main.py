"""The `grading` command: its verbs, its errors and its signals."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from contextlib import suppress
from importlib.metadata import version

from grading.safe_text import say

from ..errors import GradingError
from . import authoring, by_hand, changes, course, lms, review, term
from .arguments import Commands
from .old_verbs import with_new_verb

DESCRIPTION = "Build and prove lessons, grade a class, and return grades and feedback."
EPILOG = "`grading VERB --help` lists the options of a verb."
GROUPS = (course, authoring, term, review, by_hand, lms, changes)  # in the order of a term
UNSANDBOXED = (
    "To grade without the sandbox, run `grading grade --unsandboxed`. Student code can then do everything that you "
    "can, and every grade is marked."
)


def main(arguments: list[str] | None = None) -> int:
    """Run the command; its exit status: 0, 1 if something failed, 2 for wrong arguments, 130 if it was stopped."""
    options = make_parser().parse_args(with_new_verb(sys.argv[1:] if arguments is None else arguments))
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch is imported: all that it computes here is small
    from ..course_dir.paths import course_root, list_lessons, open_course
    from ..import_blocks import block_slow_imports

    block_slow_imports()
    from ..sandbox import SandboxUnavailable

    try:
        _stop_on_signals()
        if options.in_course:
            options.root = open_course(options.course) if options.course else course_root()
        if hasattr(options, "lessons"):
            options.lessons = list_lessons(options.root, options.lessons, ordinary=options.ordinary)
        if getattr(options, "known_students", False) and options.students:
            from ..coordinator.nbgrader_api import demand_students

            demand_students(options.root, options.students)
        return int(options.handler(options))
    except SandboxUnavailable as error:
        say(f"grading: nothing was graded. {error}\n{UNSANDBOXED}", file=sys.stderr)
    except (GradingError, FileNotFoundError) as error:
        say(f"grading: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        with suppress(OSError):  # the terminal may be gone
            say(
                "grading: stopped. What was done is kept; run the same command again to go on.",
                file=sys.stderr,
            )
        return 130
    return 1


def make_parser() -> argparse.ArgumentParser:
    """The parser of the whole command."""
    parser = argparse.ArgumentParser(prog="grading", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("--version", action="version", version=f"%(prog)s {version('attention-course-teach')}")
    commands = Commands(parser)
    for group in GROUPS:
        group.add_commands(commands)
    return parser


def _stop_on_signals() -> None:
    """Have a machine that shuts down and a closed terminal stop the command as Ctrl-C does."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:  # as `nohup` has it
            signal.signal(number, _interrupt)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
