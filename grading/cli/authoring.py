"""Verbs for authors: new-lesson, build, prove, sync."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict

from grading.safe_text import plural, say

from .arguments import DONE, NEEDS_A_PERSON, Commands, add_json, add_lessons, emit


def add_commands(commands: Commands) -> None:
    new = commands.add("new-lesson", _new_lesson, configured=False, example="new-lesson 13_positions")
    new.add_argument("name", metavar="NAME", help="two digits and one or more words, such as 13_positions")

    add_lessons(commands.add("build", _build, example="build 02_softmax"))

    prove = commands.add("prove", _prove, example="prove 02_softmax --exercise softmax")
    add_lessons(prove)
    prove.add_argument("--exercise", default="", metavar="NAME", help="exercise to prove (default: all)")
    prove.add_argument("--no-mutants", action="store_true", help="no mutants: faster, but not recorded as a proof")
    prove.add_argument(
        "--survivors", action="store_true", help="only a list of surviving mutants, in the form of equivalent.toml"
    )
    prove.add_argument("--again", action="store_true", help="also exercises that are proved and unchanged")
    add_json(prove, "exercise")
    prove.add_argument("-v", "--verbose", action="store_true", help="also the report of every known mistake")

    sync = commands.add("sync", _sync, example="sync 02_softmax/softmax")
    sync.add_argument(
        "exercises",
        nargs="*",
        metavar="EXERCISE",
        help="exercises and lessons, such as softmax, 02_softmax/softmax or 02_softmax (default: all)",
    )
    sync.add_argument("--check", action="store_true", help="only a list of what is out of date; nothing is written")
    add_json(sync, "exercise that is out of date")


def _new_lesson(options: argparse.Namespace) -> int:
    from ..course_dir.scaffold import new_lesson

    for path in new_lesson(options.root, options.name):
        say(f"{path.relative_to(options.root)}: written")
    say(f"Next: `grading prove {options.name}`. docs/authors.md explains how to write a lesson.")
    return DONE


def _build(options: argparse.Namespace) -> int:
    from ..authoring.build import build_lesson

    for name in options.lessons:
        say(f"{name}: {'built' if build_lesson(options.root, name) else 'up to date'}", flush=True)
    return DONE


def _prove(options: argparse.Namespace) -> int:
    from ..proof.runner import ProofResult, check, survivors
    from ..stopped import tell_if_stopped

    if options.survivors:
        survivors(options.root, options.lessons, options.exercise)
        return DONE
    mutate, verbose = not options.no_mutants, options.verbose
    again = options.again or verbose or bool(options.exercise)  # a named exercise is proved again
    seen: list[ProofResult] = []

    def report(one: ProofResult) -> None:
        seen.append(one)
        problems = [asdict(problem) for problem in one.problems]
        emit(options, "proof", lesson=one.lesson, exercise=one.exercise, proved=not problems, problems=problems)

    def kept() -> str:
        return (
            f"{plural(len(seen), 'exercise')} checked; proofs without a problem are kept. Run the same command again "
            "to continue."
        )

    with tell_if_stopped(kept):
        found = check(
            options.root, options.lessons, options.exercise, mutate=mutate, verbose=verbose, again=again, report=report
        )
    problems = sum(len(one.problems) for one in found)
    say(plural(problems, "problem") if problems else "all proved", file=sys.stderr)
    return NEEDS_A_PERSON if problems else DONE


def _sync(options: argparse.Namespace) -> int:
    from ..proof.sync import sync

    def report(name: str, stale: list[str]) -> None:
        emit(options, "stale", name=name, what=stale)

    return sync(options.root, options.exercises, check=options.check, report=report)
