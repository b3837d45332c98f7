"""Verbs of a term: release, grade, feedback, report, demo."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from grading.safe_text import say

from .arguments import (
    DONE,
    NEEDS_A_PERSON,
    NOT_DONE,
    Commands,
    add_lessons,
    add_students,
    add_unsandboxed,
    add_workers,
)


def add_commands(commands: Commands) -> None:
    release = commands.add("release", "Build lessons, prove them, and make the student notebooks.", _release)
    add_lessons(release, ordinary=True)
    add_workers(release, "lessons")

    grade = commands.add("grade", "Grade new submissions.", _grade)
    add_lessons(grade, ordinary=True)
    grade.add_argument("--again", action="store_true", help="all submissions, not only new and changed ones")
    add_unsandboxed(grade)
    add_students(grade)
    where = grade.add_mutually_exclusive_group()
    where.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        default="",
        help="Dask scheduler of a cluster to grade on (default: this machine)",
    )
    add_workers(where, "submissions")
    grade.add_argument("--dry-run", action="store_true", help="only a list of what would be graded, and why")
    grade.add_argument(
        "--json", action="store_true", help="one line of JSON per submission; everything else goes to stderr"
    )

    feedback = commands.add("feedback", "Write feedback pages for graded submissions.", _feedback)
    add_lessons(feedback, ordinary=True)
    add_students(feedback)
    add_workers(feedback, "pages")

    report = commands.add(
        "report", "Show what needs a person, frequent mistakes, and the results of each lesson.", _report
    )
    report.add_argument("--students", action="store_true", help="also the points of each student")
    report.add_argument("--html", type=Path, metavar="FILE", help="page to write, which opens anywhere (default: none)")
    report.add_argument("--csv", type=Path, metavar="DIR", help="folder for the tables as CSV files (default: none)")
    report.add_argument("--anonymous", action="store_true", help="numbers instead of names")

    commands.add("demo", "Run a whole term with a sample class, and report.", _demo)


def _release(options: argparse.Namespace) -> int:
    from grading.safe_console import SafeConsole

    from ..coordinator.release import release_lessons
    from ..proof.runner import check, unproved

    if left := unproved(options.root, options.lessons):
        say(f"Not proved in their present form: {', '.join(left)}. Proving them first.", flush=True)
        if any(one.problems for one in check(options.root, left, again=False)):
            say(
                "grading: nothing was released. Fix the problems listed above; `grading prove` lists them again.",
                file=sys.stderr,
            )
            return NOT_DONE
    release_lessons(options.root, options.lessons, SafeConsole(), workers=options.workers)
    return DONE


def _grade(options: argparse.Namespace) -> int:
    from grading.safe_console import SafeConsole

    from ..coordinator.grade_class import grade_class

    outcome = grade_class(
        options.root,
        options.lessons,
        SafeConsole(stderr=options.json),
        students=options.students,
        again=options.again,
        unsandboxed=options.unsandboxed,
        workers=options.workers,
        scheduler=options.scheduler,
        dry=options.dry_run,
        report=lambda record: say(json.dumps(record), flush=True) if options.json else None,
    )
    if outcome.failed:
        return NOT_DONE
    return NEEDS_A_PERSON if outcome.open else DONE


def _feedback(options: argparse.Namespace) -> int:
    from grading.safe_console import SafeConsole

    from ..coordinator.write_feedback import write_feedback

    failed = write_feedback(
        options.root, options.lessons, SafeConsole(), students=options.students, workers=options.workers
    )
    return NOT_DONE if failed else DONE


def _report(options: argparse.Namespace) -> int:
    from grading.safe_console import SafeConsole

    from ..class_report import console, csv_tables, html_page
    from ..class_report.mistake_texts import MistakeTexts
    from ..coordinator.class_data import load_class
    from ..course_dir.seeds import course_seed

    course, graders = load_class(options.root), MistakeTexts(options.root)
    if options.anonymous:
        course = course.anonymous(course_seed(options.root))
    if options.html:
        options.html.write_text(html_page.class_page(course, course.title, graders), encoding="utf-8")
        say(f"{options.html}: written")
    if options.csv:
        for file in csv_tables.write(course, graders, options.csv):
            say(f"{file}: written")
    if not options.html and not options.csv:
        console.show_class(course, graders, SafeConsole(), students=options.students)
    return DONE


def _demo(options: argparse.Namespace) -> int:
    from grading.safe_console import SafeConsole

    from ..class_report import console
    from ..class_report.mistake_texts import MistakeTexts
    from ..coordinator.class_data import load_class
    from ..coordinator.demo import demonstrate

    failed = demonstrate(options.root, SafeConsole())
    console.show_class(load_class(options.root), MistakeTexts(options.root), SafeConsole(), students=True)
    say("Look next at feedback/sample-fatou/02_softmax/02_softmax.html, and at docs/teachers.md.")
    return NOT_DONE if failed else DONE
