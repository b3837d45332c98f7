"""The verb completion: complete verbs, options, lessons and students in a shell.

Completion must be fast. So it reads file names and one table of the gradebook, and imports neither torch nor nbgrader.
It cannot complete students who are only in a gradebook elsewhere (`c.CourseDirectory.db_url`).
"""

from __future__ import annotations

import argparse
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from grading.safe_text import say

from .arguments import DONE, Commands

SHELLS = {  # shell -> the command that installs completion
    "bash": "grading completion bash >> ~/.bashrc",
    "zsh": "grading completion zsh >> ~/.zshrc",
    "fish": "grading completion fish > ~/.config/fish/completions/grading.fish",
}
INSTALL = "; ".join(SHELLS.values())
Completer = Callable[..., list[str]]


def add_commands(commands: Commands) -> None:
    completion = commands.add("completion", _completion, in_course=False, example="completion bash >> ~/.bashrc")
    completion.add_argument(
        "shell", choices=list(SHELLS), help=f"your shell; run one of these, then open a new shell: {INSTALL}"
    )


def _completion(options: argparse.Namespace) -> int:
    from ..extras import demand_package

    demand_package("argcomplete", "Completion")
    from argcomplete.shell_integration import shellcode

    code = shellcode(["grading"], shell=options.shell)
    if options.shell == "zsh":
        code = f"autoload -Uz compinit && compinit\n{code}"
    say(code)
    return DONE


def complete(parser: argparse.ArgumentParser) -> None:
    """Answer a shell's request for completions, and exit."""
    try:
        import argcomplete
    except ImportError:  # the shell was set up in another environment
        raise SystemExit(1) from None
    for verb in _verbs(parser):
        for action in verb._actions:
            if completer := COMPLETERS.get(action.metavar) if isinstance(action.metavar, str) else None:
                action.completer = completer  # type: ignore[attr-defined]
    argcomplete.autocomplete(parser)


def _verbs(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    return [
        verb
        for action in parser._actions
        if isinstance(action, argparse._SubParsersAction)
        for verb in action.choices.values()
    ]


def lessons(parsed_args: argparse.Namespace, **_: Any) -> list[str]:
    """Names of the course's lessons and ordinary assignments."""
    from ..course_dir.lessons import list_lessons

    return list_lessons(_root(parsed_args), ordinary=True)


def students(parsed_args: argparse.Namespace, **_: Any) -> list[str]:
    """Ids of students who have handed in something or are in the gradebook."""
    root = _root(parsed_args)
    found = {path.name for path in (root / "submitted").glob("[!.]*/")}
    if (root / "gradebook.db").is_file():
        with closing(sqlite3.connect(f"file:{root / 'gradebook.db'}?mode=ro", uri=True, timeout=0.2)) as gradebook:
            found |= {str(name) for (name,) in gradebook.execute("select id from student")}
    return sorted(found)


COMPLETERS: dict[str, Completer] = {"LESSON": lessons, "STUDENT": students}


def _root(parsed_args: argparse.Namespace) -> Path:
    from ..course_dir.paths import course_root, open_course

    folder = getattr(parsed_args, "course_folder", None)
    return open_course(folder) if folder else course_root()
