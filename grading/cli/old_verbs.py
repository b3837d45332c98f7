"""Map verbs of version 0.1 to their new names; they work until version 0.3."""

from __future__ import annotations

import argparse
import sys

from grading.safe_text import say

RENAMED = {"check": "prove", "fill": "fill-gradebook", "handback": "feedback-zip"}


def with_new_verb(arguments: list[str]) -> list[str]:
    """Replace an old verb by its new name, with a message on stderr."""
    verb, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if verb in RENAMED:
        old, new = verb, [RENAMED[verb]]
    elif verb == "strength":
        old, new, rest = verb, ["sync", "--measure"], _measured(rest)
    elif verb == "regrade" and "--now" in rest:
        old, new, rest = "regrade --now", ["regrade"], [one for one in rest if one != "--now"]
    elif verb == "regrade" and any(one.partition("=")[0] == "--seed" for one in rest):
        old, new = "regrade --seed", ["verify-grades"]
    else:
        return arguments
    say(
        f"grading: `grading {old}` is now `grading {' '.join(new)}`. The old name works until version 0.3.",
        file=sys.stderr,
    )
    return [*new, *rest]


def _measured(arguments: list[str]) -> list[str]:
    """Convert the arguments of `strength` for `sync --measure`.

    Exercises become LESSON/NAME. The number of seeds is always a hundred.
    """
    parser = argparse.ArgumentParser(prog="grading strength", add_help=False)
    parser.add_argument("lessons", nargs="*")
    parser.add_argument("--exercise", default="")
    parser.add_argument("--seeds")
    known, rest = parser.parse_known_args(arguments)
    if not known.exercise:
        return [*known.lessons, *rest]
    return [*([f"{lesson}/{known.exercise}" for lesson in known.lessons] or [known.exercise]), *rest]
