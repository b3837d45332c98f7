"""Verbs for a term: release, restore, grade, feedback, report, demo."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from grading.errors import UsageError
from grading.safe_text import say

from .arguments import (
    DONE,
    NEEDS_A_PERSON,
    NOT_DONE,
    Commands,
    add_json,
    add_lessons,
    add_students,
    add_unsandboxed,
    add_workers,
    add_workers_or_scheduler,
    emit,
)


def add_commands(commands: Commands) -> None:
    release = commands.add("release", _release, example="release 02_softmax")
    add_lessons(release, ordinary=True)
    add_json(release, "lesson")

    restore = commands.add("restore", _restore, example="restore ada 02_softmax")
    restore.add_argument(
        "student",
        nargs="?",
        default="",
        metavar="STUDENT",
        help="id of the student (default: a list for all students)",
    )
    restore.add_argument(
        "lesson",
        nargs="?",
        default="",
        metavar="LESSON",
        help="lesson of the submission (default: a list for all lessons)",
    )
    restore.add_argument(
        "--at", default="", metavar="TIME", help="time of the submission, as in the list (default: the latest)"
    )
    restore.add_argument("--list", action="store_true", help="only a list of replaced submissions")

    grade = commands.add("grade", _grade, example="grade 02_softmax --students ada")
    add_lessons(grade, ordinary=True)
    grade.add_argument("--again", action="store_true", help="all submissions (default: new and changed ones)")
    add_unsandboxed(grade)
    add_students(grade)
    add_workers_or_scheduler(grade)
    grade.add_argument("--dry-run", action="store_true", help="only a list of what would be graded, and why")
    add_json(grade, "submission, and per grade")

    feedback = commands.add("feedback", _feedback, example="feedback 02_softmax")
    add_lessons(feedback, ordinary=True)
    add_students(feedback)
    add_workers(feedback, "pages")
    add_json(feedback, "page")

    report = commands.add("report", _report, example="report 02_softmax --html report.html")
    add_lessons(report, ordinary=True)
    report.add_argument(
        "--students",
        nargs="*",
        metavar="STUDENT",
        help="also the points of each student; with ids, only of these students (default: no student's points)",
    )
    report.set_defaults(demand_students=True)
    report.add_argument("--html", type=Path, metavar="FILE", help="web page to write, in one file (default: none)")
    report.add_argument("--csv", type=Path, metavar="DIR", help="folder for the tables as CSV files (default: none)")
    report.add_argument("--anonymous", action="store_true", help="numbers instead of students' ids and names")
    add_json(report, "grade, exercise, frequent mistake and lesson")

    demo = commands.add("demo", _demo, example="demo")
    add_lessons(demo, default="02_softmax, or the first")
    demo.add_argument("--all", action="store_true", help="all lessons, which takes minutes")


def _release(options: argparse.Namespace) -> int:
    from grading.safe_console import SafeConsole

    from ..coordinator.release import release_lessons
    from ..proof.runner import check, unproved

    if left := unproved(options.root, options.lessons):
        say(f"New or changed since the last proof: {', '.join(left)}. Proving first.", flush=True)
        if any(one.problems for one in check(options.root, left, again=False)):
            for name in options.lessons:
                emit(options, "release", lesson=name, outcome="not released")
            say(
                "grading: nothing was released. Fix the problems listed above; `grading prove` lists them again.",
                file=sys.stderr,
            )
            return NOT_DONE
    for name, new in release_lessons(options.course, options.lessons, SafeConsole()).items():
        emit(options, "release", lesson=name, outcome="released" if new else "up to date")
    return DONE


def _restore(options: argparse.Namespace) -> int:
    from ..coordinator.restore import restore
    from ..submitted.replaced import list_replaced

    if options.list or not options.lesson:
        found = list_replaced(options.course.root, options.student, options.lesson)
        for replaced in found:
            files = f"{', '.join(replaced.files)} ({replaced.was}), replaced by {replaced.by}"
            say(f"{replaced.student}  {replaced.lesson}  {replaced.at}: {files}")
        if not found:
            say("No submission was replaced.")
        return 0
    replaced = restore(options.course, options.student, options.lesson, options.at)
    files = f"{', '.join(replaced.files)} of {replaced.at}"
    say(f"{replaced.student}, {replaced.lesson}: {files} brought back ({replaced.was})")
    say("The submission that it replaces is kept too. Run `grading grade` to grade the one brought back.")
    return 0


def _grade(options: argparse.Namespace) -> int:
    from grading.safe_console import SafeConsole

    from ..coordinator.grade_class import grade_class
    from ..course_dir.course_folder import exposure

    if problem := exposure(options.root):
        say(f"grading: warning: {problem}", file=sys.stderr)
    outcome = grade_class(
        options.course,
        options.lessons,
        SafeConsole(),
        students=options.students,
        again=options.again,
        workers=options.workers,
        scheduler=options.scheduler,
        dry=options.dry_run,
        report=lambda record: emit(options, "submission", **record),
    )
    if options.json and not options.dry_run:
        _emit_grades(options, [*outcome.graded, *outcome.up_to_date], outcome.open)
    if outcome.failed:
        return NOT_DONE
    return NEEDS_A_PERSON if outcome.open else DONE


def _emit_grades(options: argparse.Namespace, wanted: Iterable[tuple[str, str]], open_: set[tuple[str, str]]) -> None:
    """Emit the grades of these (lesson, student) pairs."""
    points = options.course.scores()
    for lesson, student in sorted(wanted):
        got, most = points[student, lesson]
        waits = (lesson, student) in open_
        emit(
            options,
            "grade",
            lesson=lesson,
            student=student,
            status="needs a person" if waits else "graded",
            points=None if waits else got,
            most=most,
        )


def _feedback(options: argparse.Namespace) -> int:
    from grading.safe_console import SafeConsole

    from ..coordinator.write_feedback import write_feedback

    failed = write_feedback(
        options.course,
        options.lessons,
        SafeConsole(),
        students=options.students,
        workers=options.workers,
        report=lambda record: emit(options, "page", **record),
    )
    return NOT_DONE if failed else DONE


def _report(options: argparse.Namespace) -> int:
    from grading.safe_console import SafeConsole

    from ..class_report import console, csv_tables, html_page
    from ..class_report.mistake_texts import MistakeTexts
    from ..class_report.records import report_records
    from ..coordinator.class_data import load_class
    from ..course_dir.seeds import course_seed

    graders = MistakeTexts(options.root)
    grades = load_class(options.course).of(None if options.every_lesson else options.lessons, options.students)
    if options.anonymous:
        grades = grades.anonymous(course_seed(options.root))
    if options.html:
        options.html.write_text(html_page.class_page(grades, grades.title, graders), encoding="utf-8")
        say(f"{options.html}: written")
    if options.csv:
        for file in csv_tables.write(grades, graders, options.csv):
            say(f"{file}: written")
    if not options.html and not options.csv:
        console.show_class(grades, graders, SafeConsole(), students=options.students is not None)
    for record, fields in report_records(grades) if options.json else ():
        emit(options, record, **fields)
    return DONE


def _demo(options: argparse.Namespace) -> int:
    from grading.safe_console import SafeConsole

    from ..class_report import console, html_page
    from ..class_report.mistake_texts import MistakeTexts
    from ..coordinator.class_data import load_class
    from ..coordinator.demo import demonstrate, one_lesson, pages_to_open

    if options.all and not options.every_lesson:
        raise UsageError("name lessons or --all, not both")
    lessons = one_lesson(options.course) if options.every_lesson and not options.all else options.lessons
    failed = demonstrate(options.course, lessons, SafeConsole())
    grades, graders = load_class(options.course).of(lessons, None), MistakeTexts(options.root)
    console.show_class(grades, graders, SafeConsole(), students=True)
    page = options.root / "build" / "demo" / "class.html"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(html_page.class_page(grades, grades.title, graders), encoding="utf-8")
    say("Open next:")
    for path, about in [(page, "the whole class"), *pages_to_open(options.course, lessons[0])]:
        say(f"  {path}  ({about})")
    return NOT_DONE if failed else DONE
