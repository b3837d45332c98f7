"""The verb watch."""

from __future__ import annotations

import argparse
import json

from grading.cli.arguments import (
    DONE,
    NEEDS_A_PERSON,
    NOT_DONE,
    Commands,
    add_lessons,
    add_unsandboxed,
    add_workers_or_scheduler,
)
from grading.safe_text import say


def add_commands(commands: Commands) -> None:
    watch = commands.add("watch", _watch, example="watch 02_softmax")
    add_lessons(watch, ordinary=True)
    add_workers_or_scheduler(watch)
    add_unsandboxed(watch)
    watch.add_argument(
        "--every", type=_seconds, default=5.0, metavar="SECONDS", help="time between two looks (default: 5)"
    )
    watch.add_argument(
        "--page",
        type=_port,
        metavar="PORT",
        help="port on this machine for a page with the state; 0: a free one (default: none, or what JupyterHub says)",
    )
    how = watch.add_mutually_exclusive_group()
    how.add_argument("--once", action="store_true", help="only what waits now (default: until it is stopped)")
    how.add_argument("--status", action="store_true", help="only the state of a running watch, as JSON")


def _watch(options: argparse.Namespace) -> int:
    from .watch import Watch
    from .watch_page import page_address
    from .watch_state import read_state

    if options.status:
        state = read_state(options.root)
        say(json.dumps(state, indent=1, ensure_ascii=False))
        if not state["running"]:
            return NOT_DONE
        return NEEDS_A_PERSON if state.get("errors") else DONE
    lessons = () if options.every_lesson else options.lessons
    watch = Watch(
        options.root,
        lessons,
        options.workers,
        options.every,
        options.unsandboxed,
        page_address(options.page),
        options.scheduler,
    )
    fine = watch.run(once=options.once)
    return DONE if fine or not options.once else NOT_DONE


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.1 <= seconds <= 3600:
        raise argparse.ArgumentTypeError(f"expected seconds from 0.1 to 3600, got {text}")
    return seconds


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"expected a port from 0 to 65535, got {text}")
    return int(text)
