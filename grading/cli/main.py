"""The `grading` command: its verbs, its errors and its signals."""

from __future__ import annotations

import argparse
import os
import re
import signal
import sys
from contextlib import ExitStack, redirect_stdout, suppress
from importlib.metadata import version

from grading.errors import UsageError
from grading.safe_text import say

from ..errors import GradingError
from ..plugins.lms import verbs as lms
from ..plugins.migrate import verbs as migrate
from ..plugins.people import verbs as people
from ..plugins.platforms import verbs as one_file
from ..plugins.review import verbs as review
from . import authoring, by_hand, changes, completion, course, gradebook, term
from .arguments import NOT_DONE, Commands, find_selected
from .completion import complete

DESCRIPTION = "Build and prove lessons, grade a class, and return grades and feedback."
EPILOG = """\
`grading VERB --help` lists the options of a verb. As with nbgrader, --Class.trait=value overrides a setting of
nbgrader_config.py for this command. Exit status: 0 done, 1 something needs a person, 2 wrong use or not done."""
GROUPS = (course, authoring, term, one_file, review, by_hand, lms, gradebook, changes, people, migrate, completion)
VERBS = {  # the groups in `--help`, in the order of a term
    "Begin a course": ("init", "settings", "demo"),
    "Write lessons": ("new-lesson", "build", "prove", "sync"),
    "Release": ("release", "publish", "site"),
    "Collect": ("collect", "restore"),
    "Grade": ("grade", "watch", "grade-file", "package", "review", "report"),
    "Give back": ("feedback", "feedback-zip", "gradebook", "fill-gradebook", "push"),
    "Change": ("extend", "excuse", "reopen", "regrade", "verify-grades", "history"),
    "Look after": ("doctor", "backup", "restore-backup", "migrate", "export-student", "forget", "completion"),
}
SETTING = re.compile(r"--([A-Z]\w*)\.(\w+)=(.*)", re.DOTALL)  # nbgrader's syntax to set a trait
FOR_OTHERS = ("publish", "site")  # verbs that write folders which a web server may read
STOPPED = 130  # exit status after Ctrl-C, as in shells
UNSANDBOXED = (
    "To grade without the sandbox, run `grading grade --unsandboxed`. Student code can then do everything that you "
    "can, and every grade is marked."
)


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit status.

    0: all is done. 1: something needs a person. 2: wrong use, or not done. 130: stopped.
    """
    rest, settings = _without_settings(sys.argv[1:] if arguments is None else arguments)
    parser = make_parser()
    complete(parser)
    options = parser.parse_args(rest)
    try:
        return _run(options, settings)
    except UsageError as error:
        say(f"grading {options.verb}: {error}. `grading {options.verb} --help` lists its arguments.", file=sys.stderr)
    except (GradingError, FileNotFoundError) as error:
        say(f"grading: {error}", file=sys.stderr)
    except KeyboardInterrupt as stop:
        kept = str(stop) or "Finished work is kept; run the same command again to continue."
        with suppress(OSError):  # the terminal may be gone
            say(f"grading: stopped. {kept}", file=sys.stderr)
        return STOPPED
    return NOT_DONE


def make_parser() -> argparse.ArgumentParser:
    """The parser of the whole command."""
    parser = argparse.ArgumentParser(
        prog="grading",
        usage="%(prog)s [-h] [--version] VERB …",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {version('attention-course-teach')}")
    commands = Commands(parser)
    for group in GROUPS:
        group.add_commands(commands)
    parser.description = f"{DESCRIPTION}\n{_listed(commands.summaries)}"
    return parser


def _listed(summaries: dict[str, str]) -> str:
    """List the verbs by group, one per line."""
    lines = []
    for title, names in VERBS.items():
        lines += ["", f"{title}:", *(f"    {name:<16}{summaries[name]}" for name in names if name in summaries)]
    return "\n".join(lines)


def _without_settings(arguments: list[str]) -> tuple[list[str], list[tuple[str, str, str]]]:
    """Separate `--Class.trait=value` from the other arguments.

    Returns the others, and the settings as (class, trait, value).
    """
    settings = [SETTING.fullmatch(argument) for argument in arguments]
    rest = [argument for argument, setting in zip(arguments, settings, strict=True) if setting is None]
    return rest, [(setting[1], setting[2], setting[3]) for setting in settings if setting is not None]


def _run(options: argparse.Namespace, settings: list[tuple[str, str, str]]) -> int:
    """Run the verb. Raises what the handler raises, except SandboxUnavailable."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch is imported; all computations here are small
    from ..course_dir.course_folder import as_private_as, demand_plain_path
    from ..course_dir.paths import course_root, open_course
    from ..import_blocks import block_slow_imports

    block_slow_imports()
    from ..course import Course
    from ..sandbox import SandboxUnavailable

    _stop_on_signals()
    options.stdout = sys.stdout
    try:
        with ExitStack() as stack:
            if getattr(options, "json", False):
                stack.enter_context(redirect_stdout(sys.stderr))
            _override(options, settings)
            if options.in_course:
                root = open_course(options.course_folder) if options.course_folder else course_root()
                options.root = demand_plain_path(root)
                options.course = Course(options.root, unsandboxed=getattr(options, "unsandboxed", False))
                if options.verb not in FOR_OTHERS:
                    stack.enter_context(as_private_as(options.root))
                find_selected(options)
            return int(options.handler(options))
    except SandboxUnavailable as error:
        say(f"grading: nothing was graded. {error}\n{UNSANDBOXED}", file=sys.stderr)
        return NOT_DONE


def _override(options: argparse.Namespace, settings: list[tuple[str, str, str]]) -> None:
    """Let settings from the command line override the course's configuration.

    Raises SettingError, UsageError.
    """
    from ..course_dir import overrides

    overrides.given.clear()
    if settings and not options.configured:
        raise UsageError(
            f"this verb does not read nbgrader_config.py, so --{'.'.join(settings[0][:2])} would change nothing"
        )
    if settings:
        from ..course_dir.known_settings import parse_settings

        overrides.given.merge(parse_settings(settings))


def _stop_on_signals() -> None:
    """Treat a shutdown or a closed terminal like Ctrl-C."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:  # set by `nohup`
            signal.signal(number, _interrupt)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
