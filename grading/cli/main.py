"""The `grading` command: its verbs, its errors and its signals."""

from __future__ import annotations

import argparse
import os
import re
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, redirect_stdout, suppress
from importlib import import_module

from grading.errors import UsageError
from grading.safe_text import say

from ..errors import GradingError
from ..plugin import Verb
from .arguments import NOT_DONE, Commands, find_selected
from .verbs import verbs_by_group

DESCRIPTION = "Build and prove lessons, grade a class, and return grades and feedback."
EPILOG = """\
`grading --help all` lists all verbs, `grading VERB --help` the options of a verb. As with nbgrader,
--Class.trait=value overrides a setting of nbgrader_config.py for this command. Exit status: 0 done, 1 something needs
a person, 2 wrong use or not done."""
SETTING = re.compile(r"--([A-Z]\w*)\.(\w+)=(.*)", re.DOTALL)  # nbgrader's syntax to set a trait
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
    parser = make_parser(rest)
    if "_ARGCOMPLETE" in os.environ:
        from .completion import complete

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


def make_parser(arguments: Sequence[str] = ()) -> argparse.ArgumentParser:
    """The parser for a command line: with its verb alone if it begins with one, otherwise with all verbs."""
    groups, (first, *rest) = verbs_by_group(), [*arguments, ""]
    verbs = {verb.name: verb for group in groups.values() for verb in group}
    number = ""
    if first == "--version":
        from importlib.metadata import version  # slow to import

        number = version("attention-course-teach")
    parser = argparse.ArgumentParser(
        prog="grading",
        usage="%(prog)s [-h] [--version] VERB …",
        description=f"{DESCRIPTION}\n{_listed(groups, every=rest[:1] == ['all'])}",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {number}")
    commands = Commands(parser, verbs)
    needed = [] if first in ("-h", "--help", "--version") else [verbs[first]] if first in verbs else verbs.values()
    for module in dict.fromkeys(verb.module for verb in needed):
        import_module(module).add_commands(commands)
    return parser


def _listed(groups: Mapping[str, Sequence[Verb]], *, every: bool) -> str:
    """The verbs of a term, or all, one per line."""
    lines = []
    for group, verbs in groups.items():
        if listed := [f"    {verb.name:<16}{verb.summary}" for verb in verbs if verb.term or every]:
            lines += ["", f"{group}:", *listed]
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
                if not options.for_others:
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
