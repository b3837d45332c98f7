"""The verb site."""

from __future__ import annotations

import argparse
from pathlib import Path

from grading.cli.arguments import DONE, Commands, add_workers


def add_commands(commands: Commands) -> None:
    site = commands.add("site", _site, example="site", for_others=True)
    site.add_argument(
        "dir", nargs="?", type=Path, default=Path("site"), metavar="DIR", help="folder to replace (default: site)"
    )
    add_workers(site, "lessons")


def _site(options: argparse.Namespace) -> int:
    from grading.cpu_count import cpu_count
    from grading.safe_console import SafeConsole

    from .build import build_site

    build_site(options.course, options.dir, SafeConsole(), workers=options.workers or cpu_count())
    return DONE
