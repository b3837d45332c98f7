"""Verbs for an LMS: collect, fill-gradebook, feedback-zip, push."""

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
    add_after_lesson,
    add_json,
    add_lesson,
    add_lessons,
    add_students,
    add_yes,
    confirmed,
    emit,
    selected,
)
from grading.errors import UsageError
from grading.plural import plural
from grading.safe_text import say

if TYPE_CHECKING:
    from grading.class_report.model import ClassGrades, Submission


def add_commands(commands: Commands) -> None:
    collect = commands.add(
        "collect",
        "Sort an LMS download into submitted/ and record submission times.",
        _collect,
        example="collect submissions.zip --lesson 02_softmax",
    )
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

    fill = commands.add(
        "fill-gradebook",
        "Fill lessons' columns in a gradebook file that your LMS exported.",
        _fill_gradebook,
        example="fill-gradebook export.csv 02_softmax",
    )
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
    _add_provisional(fill)
    add_json(fill, "cell")

    pack = commands.add(
        "feedback-zip",
        "Pack feedback pages into a zip that Canvas or Moodle can import.",
        _feedback_zip,
        example="feedback-zip 02_softmax submissions.zip",
    )
    add_lesson(pack, "lesson whose feedback to pack")
    add_after_lesson(pack, "downloads", "DOWNLOAD", "zip or folder of submissions from the LMS, unmodified")
    add_students(pack)
    add_json(pack, "student in the download")
    pack.add_argument("--out", type=Path, metavar="FILE", help="zip to write (default: feedback-LESSON.zip)")

    push = commands.add(
        "push", "Send a lesson's points to Canvas, after showing them.", _push, example="push canvas 02_softmax"
    )
    push.add_argument("where", choices=["canvas"], help="platform to send to")
    add_lesson(push, "lesson whose points to send")
    add_students(push)
    push.add_argument(
        "--url", default="", help="address of Canvas, such as https://canvas.example.edu (default: from course.toml)"
    )
    push.add_argument(
        "--canvas-course",
        default="",
        metavar="NUMBER",
        help="number of the course in Canvas, from its address (default: from course.toml)",
    )
    push.add_argument(
        "--assignment",
        default="",
        metavar="NUMBER",
        help="number of the assignment in Canvas (default: from course.toml, or by the lesson's name)",
    )
    push.add_argument(
        "--by",
        default="",
        choices=["id", "sis_user_id", "login_id", "email"],
        help="field of Canvas that has the students' ids (default: the field that matches most students)",
    )
    _add_provisional(push)
    add_json(push, "student whose points differ in Canvas")
    add_yes(push, "send the points")


def _add_provisional(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--provisional",
        action="store_true",
        help="also points of submissions that a person has not fully graded yet (default: left out)",
    )


def _ready(grades: ClassGrades, lesson: str, options: argparse.Namespace) -> tuple[list[Submission], list[str]]:
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

    grades = load_class(options.course)
    graded, waiting = _ready(grades, lesson, options)
    done = fill_column(
        content,
        lesson,
        load_roster(options.course),
        {one.student: one.points for one in graded},
        graded[0].most,
        options.column or options.course.toml.entry(lesson).column,
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
    downloads = [Path(path) for path in options.downloads]
    done = hand_back(options.course, options.lesson, downloads, out, SafeConsole(), students=options.students)
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


def _canvas_place(options: argparse.Namespace) -> tuple[str, str, str, str]:
    """Canvas's address, the course's number, the lesson, the assignment's number.

    Raises UsageError.
    """
    course = options.course.toml
    url, number = options.url or course.lms.canvas_url, options.canvas_course or course.lms.canvas_course
    if not url or not number:
        raise UsageError(
            "no Canvas course given: add --url and --canvas-course, or set canvas_url and canvas_course in course.toml"
        )
    return url, str(number), options.lesson, str(options.assignment or course.entry(options.lesson).canvas or "")


def _push(options: argparse.Namespace) -> int:
    from grading.coordinator.class_data import load_class, load_roster
    from grading.coordinator.console_tables import show_push
    from grading.extras import demand_extra
    from grading.safe_console import SafeConsole
    from grading.stopped import tell_if_stopped

    demand_extra("canvas", "Sending points to Canvas")
    from grading.plugins.canvas.canvas_api import CanvasAssignment

    grades, lesson = load_class(options.course), options.lesson
    free = {student for student, name in grades.excused if name == lesson}
    free = {student for student in free if selected(options, student)}
    graded, waits = _ready(grades, lesson, options)
    there = CanvasAssignment(*_canvas_place(options))
    points = {one.student: one.points for one in graded}
    plan = there.plan(load_roster(options.course), points, free, graded[0].most, options.by)
    show_push(plan, waits, SafeConsole())
    for new in plan.to_send:
        emit(options, "points there", lesson=lesson, student=new.student, before=new.before, now=new.now)
    if not plan.to_send or not confirmed(options, f"send these points to {plan.assignment!r}"):
        return DONE
    with tell_if_stopped(lambda: "Canvas may have some of the points; run the same command again to see which."):
        otherwise = there.send(plan.to_send)
    say(f"{plural(len(plan.to_send) - len(otherwise), 'grade')} sent and confirmed by Canvas")
    for one, held in otherwise:
        shown = held or "nothing"
        say(f"{one.student}: sent {one.now}, but Canvas shows {shown}. Its own late policy may take points off.")
    return NEEDS_A_PERSON if otherwise else DONE
