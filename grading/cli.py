"""The `grading` command: what nbgrader's own commands do not cover."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="grading", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)

    build = verbs.add_parser("build", help="build the assignments and the visible examples from their texts")
    build.add_argument("lessons", nargs="*")
    build.add_argument("--current", action="store_true", help="change nothing; fail if something is out of date")

    check = verbs.add_parser("check", help="prove the graders: solutions, stubs, alternatives, mistakes, mutants")
    check.add_argument("lessons", nargs="*")
    check.add_argument("--exercise", default="")
    check.add_argument("--no-mutants", action="store_true")
    check.add_argument("-v", "--verbose", action="store_true", help="show the report of every known mistake")

    options = parser.parse_args(arguments)
    return globals()[f"_{options.verb}"](options)


def _build(options: argparse.Namespace) -> int:
    from .build import build_lesson, lessons

    for name in options.lessons or lessons(ROOT):
        print(f"{name}: {'built' if build_lesson(ROOT, name) else 'up to date'}", flush=True)
    return 0


def _check(options: argparse.Namespace) -> int:
    from .check import check_all

    problems = check_all(
        ROOT, options.lessons, options.exercise, mutate=not options.no_mutants, verbose=options.verbose
    )
    print(f"{problems} problem{'s' * (problems != 1)}" if problems else "all proved")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
