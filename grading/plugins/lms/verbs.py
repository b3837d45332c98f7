"""Verbs for an LMS: collect, fill-gradebook, feedback-zip."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from grading.cli.arguments import (
    DONE,
    NEEDS_A_PERSON,
    NOT_DONE,
    Commands,
    add_json,
    add_lesson,
    add_lessons,
    add_students,
    emit,
    selected,
)
from grading.errors import UsageError
from grading.safe_text import plural, say

if TYPE_CHECKING:
    from grading.class_report.model import ClassGrades, Submission


def add_commands(commands: Commands) -> None:
    collect = commands.add("collect", _collect, example="collect submissions.zip --lesson 02_softmax")
    collect.add_argument(
        "archives", nargs="+", type=Path, metavar="DOWNLOAD", help="zip or folder from the LMS, unmodified"
    )
    collect.add_argument(
        "--lesson", default="", help="lesson that was submitted (default: detected from the names of files)"
    )
    undecided = collect.add_mutually_exclusive_group()
    for choice, summary in (
        ("keep", "where it is unclear which is newer: the submission in submitted/ (default: ask you in a table)"),
        ("replace", "where it is unclear which is newer: the download; `grading restore` brings the other back"),
    ):
        undecided.add_argument(
            f"--{choice}", dest="undecided", action="store_const", const=choice, default="ask", help=summary
        )
    add_json(collect, "submission in the downloads")

    fill = commands.add("fill-gradebook", _fill_gradebook, example="fill-gradebook export.csv 02_softmax")
    fill.add_argument(
        "file", type=Path, metavar="FILE", help="CSV file exported from the gradebook of Canvas or Moodle"
    )
    add_lessons(fill, ordinary=True, last=True, default="all with a column in FILE")
    add_students(fill)
    fill.add_argument(
        "--column", default="", metavar="NAME", help="column to fill (default: from course.toml, or by its name)"
    )
    fill.add_argument(
        "--by", default="", metavar="NAME", help="column with student ids (default: detected from the ids)"
    )
    fill.add_argument("--out", type=Path, metavar="FILE", help="file to write (default: FILE-filled.csv)")
    add_provisional(fill)
    add_json(fill, "cell")

    pack = commands.add("feedback-zip", _feedback_zip, example="feedback-zip 02_softmax submissions.zip")
    add_lesson(pack, "lesson whose feedback to pack")
    pack.add_argument(
        "downloads",
        nargs="+",
        type=Path,
        metavar="DOWNLOAD",
        help="zip or folder of submissions from the LMS, unmodified",
    )
    add_students(pack)
    add_json(pack, "student in the download")
    pack.add_argument("--out", type=Path, metavar="FILE", help="zip to write (default: feedback-LESSON.zip)")


def add_provisional(verb: argparse.ArgumentParser) -> None:
    """Add --provisional, which `ready_submissions` reads."""
    verb.add_argument(
        "--provisional",
        action="store_true",
        help="also points of submissions that a person has not fully graded yet (default: left out)",
    )


def ready_submissions(
    grades: ClassGrades, lesson: str, options: argparse.Namespace
) -> tuple[list[Submission], list[str]]:
    """Submissions whose points may leave the course, and the other students.

    Raises StepFailed.
    """
    from grading.errors import StepFailed

    every = [one for one in grades.submissions if one.lesson == lesson and selected(options, one.student)]
    ready = [one for one in every if options.provisional or not one.open]
    if not every:
        raise StepFailed(f"{lesson} has no grades. Run `grading grade {lesson}` first")
    if not ready:
        raise StepFailed(
            f"all points of {lesson} are provisional: `grading report` lists what a person has yet to grade. "
            "Add --provisional to use the points so far"
        )
    return ready, sorted(one.student for one in every if one not in ready)


def _collect(options: argparse.Namespace) -> int:
    from grading.safe_console import SafeConsole

    from .collect import collect

    lesson = options.course.lessons([options.lesson])[0] if options.lesson else ""
    outcomes = collect(options.course, options.archives, lesson, SafeConsole(), undecided=options.undecided)
    for one in outcomes:
        emit(options, "hand-in", **asdict(one))
    return NEEDS_A_PERSON if any(outcome.failed for outcome in outcomes) else DONE


def _fill_gradebook(options: argparse.Namespace) -> int:
    from grading.errors import GradebookCsvError, StepFailed

    if options.column and len(options.lessons) > 1:
        raise UsageError(f"--column needs one lesson, got {len(options.lessons)}: name the lesson")
    content = given = options.file.read_bytes()
    filled, waiting = False, list[str]()
    for lesson in options.lessons:
        try:
            content, waits = _filled(options, lesson, content)
        except GradebookCsvError as error:
            if not options.every_lesson:
                raise GradebookCsvError(f"nothing was written. {options.file}: {error}") from error
            say(f"{lesson}: not filled. {error}")
        except StepFailed as error:
            if not options.every_lesson:
                raise
            say(f"{lesson}: not filled. {error}")
        else:
            filled, waiting = True, waiting + waits
    if not filled:
        say("grading: nothing was written. No lesson could be filled in.", file=sys.stderr)
        return NOT_DONE
    out = options.out or options.file.with_name(f"{options.file.stem}-filled.csv")
    out.write_bytes(content.decode("utf-8").encode("utf-8-sig" if given[:3] == b"\xef\xbb\xbf" else "utf-8"))
    say(f"{out}: written. Import it into your LMS.")
    return NEEDS_A_PERSON if waiting else DONE


def _filled(options: argparse.Namespace, lesson: str, content: bytes) -> tuple[bytes, list[str]]:
    """The file with a lesson filled in, and students with provisional points.

    Raises GradebookCsvError and StepFailed.
    """
    from grading.coordinator.class_data import load_class

    from .gradebook_csv import fill_column, summary_lines
    from .people import load_roster
    from .settings import LessonColumn

    grades, entry = load_class(options.course), options.course.toml.entry(lesson)
    assert isinstance(entry, LessonColumn)
    graded, waiting = ready_submissions(grades, lesson, options)
    done = fill_column(
        content,
        lesson,
        load_roster(options.course),
        {one.student: one.points for one in graded},
        graded[0].most,
        options.column or entry.column,
        options.by,
        excused=[student for student, name in grades.excused if name == lesson and selected(options, student)],
    )
    say("\n".join(summary_lines(done)))
    if waiting:
        say(f"unchanged, because the points are provisional (--provisional fills them in): {', '.join(waiting)}")
    cells = [(student, before, now, "filled") for student, (before, now) in done.changed.items()]
    cells += [(student, "", "", "provisional") for student in waiting]
    cells += [(student, "", "", "not in the file") for student in done.unmatched]
    for student, before, now, outcome in cells:
        emit(
            options,
            "cell",
            lesson=lesson,
            student=student,
            column=done.column,
            before=before,
            now=now,
            outcome=outcome,
        )
    return done.text.encode("utf-8"), waiting


def _feedback_zip(options: argparse.Namespace) -> int:
    from grading.safe_console import SafeConsole

    from .return_feedback import hand_back

    out = options.out or Path(f"feedback-{options.lesson}.zip")
    done = hand_back(options.course, options.lesson, options.downloads, out, SafeConsole(), students=options.students)
    for student, name in done.names.items():
        emit(options, "packed", lesson=options.lesson, student=student, name=name, why="")
    for student, why in done.left_out.items():
        emit(options, "packed", lesson=options.lesson, student=student, name="", why=why)
    for student, why in done.left_out.items():
        say(f"left out: {student} {why}")
    for name in done.nobodys:
        say(f"left out: no student matches {name} (run `grading collect` to say whose it is)")
    if done.not_in_it:
        say(f"not in the download: {', '.join(done.not_in_it)}")
    if not done.names:
        say("grading: nothing was written. No student in the download has feedback.", file=sys.stderr)
        return NOT_DONE
    say(f"{out}: {plural(len(done.names), 'page')} written. Upload it to your LMS.")
    return NEEDS_A_PERSON if done.left_out or done.nobodys else DONE
