"""Verbs for exchange with a learning platform: collect, fill-gradebook, feedback-zip, push."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from grading.safe_text import say

from .arguments import (
    DONE,
    NEEDS_A_PERSON,
    NOT_DONE,
    Commands,
    add_after_lesson,
    add_lesson,
    add_yes,
    confirmed,
    plural,
)


def add_commands(commands: Commands) -> None:
    collect = commands.add("collect", "Sort an LMS download into submitted/ and record submission times.", _collect)
    collect.add_argument(
        "archives", nargs="+", type=Path, metavar="DOWNLOAD", help="zips and folders, unmodified since the download"
    )
    collect.add_argument("--lesson", default="", help="the lesson that was submitted (default: by the names of files)")

    fill = commands.add(
        "fill-gradebook", "Fill a lesson's column in a gradebook file that your LMS exported.", _fill_gradebook
    )
    fill.add_argument(
        "file", type=Path, metavar="FILE", help="CSV file, exported from the gradebook of Canvas or Moodle"
    )
    add_lesson(fill, "lesson whose points to fill in")
    fill.add_argument("--column", default="", metavar="NAME", help="column to fill (default: by the lesson's name)")
    fill.add_argument("--by", default="", metavar="NAME", help="column with student ids (default: by the ids in it)")
    fill.add_argument("--out", type=Path, metavar="FILE", help="file to write (default: FILE-filled.csv)")

    pack = commands.add(
        "feedback-zip", "Pack feedback pages into a zip named as Canvas or Moodle expects.", _feedback_zip
    )
    add_lesson(pack, "lesson whose feedback to pack")
    add_after_lesson(pack, "downloads", "DOWNLOAD", "submissions download from the LMS, unmodified")
    pack.add_argument("--out", type=Path, metavar="FILE", help="zip to write (default: feedback-LESSON.zip)")

    push = commands.add("push", "Show a lesson's points for Canvas, and send them.", _push)
    push.add_argument("where", choices=["canvas"], help="platform to send to")
    add_lesson(push, "lesson whose points to send")
    push.add_argument("--url", required=True, help="address of your Canvas: https://canvas.example.edu")
    push.add_argument(
        "--canvas-course", required=True, metavar="NUMBER", help="the course's number in Canvas, from its address"
    )
    push.add_argument(
        "--assignment", default="", metavar="NUMBER", help="the assignment's number (default: by the lesson's name)"
    )
    push.add_argument(
        "--by",
        default="",
        choices=["id", "sis_user_id", "login_id", "email"],
        help="kind of id that identifies students in Canvas (default: the one that fits)",
    )
    add_yes(push, "send the points")


def _collect(options: argparse.Namespace) -> int:
    from grading.safe_console import SafeConsole

    from ..coordinator.collect import collect
    from ..course_dir.paths import list_lessons

    lesson = list_lessons(options.root, [options.lesson], ordinary=True)[0] if options.lesson else ""
    outcomes = collect(options.root, options.archives, lesson, SafeConsole())
    return NEEDS_A_PERSON if any(one.failed for one in outcomes) else DONE


def _fill_gradebook(options: argparse.Namespace) -> int:
    from ..coordinator.class_data import load_class, load_roster
    from ..errors import GradebookCsvError, StepFailed
    from ..lms.gradebook_csv import fill_column, summary_lines

    given, lesson = options.file, options.lesson
    course = load_class(options.root)
    graded, waiting = course.whole(lesson), [s.student for s in course.submissions if s.lesson == lesson and s.open]
    if not graded:
        raise StepFailed(f"nothing was written: {lesson} has no complete grades. Run `grading grade {lesson}` first")
    points, content = {one.student: one.points for one in graded}, given.read_bytes()
    try:
        done = fill_column(
            content,
            lesson,
            load_roster(options.root),
            points,
            graded[0].most,
            options.column,
            options.by,
            excused=[student for student, name in course.excused if name == lesson],
        )
    except GradebookCsvError as error:
        raise GradebookCsvError(f"nothing was written. {given}: {error}") from error
    say("\n".join(summary_lines(done)))
    if waiting:
        say(f"unchanged, because an exercise needs a person: {', '.join(sorted(waiting))}")
    out = options.out or given.with_name(f"{given.stem}-filled.csv")
    out.write_bytes(done.text.encode("utf-8-sig" if content[:3] == b"\xef\xbb\xbf" else "utf-8"))
    say(f"{out}: written. Import it into your LMS.")
    return NEEDS_A_PERSON if waiting else DONE


def _feedback_zip(options: argparse.Namespace) -> int:
    from grading.safe_console import SafeConsole

    from ..coordinator.return_feedback import hand_back

    out = options.out or Path(f"feedback-{options.lesson}.zip")
    done = hand_back(options.root, options.lesson, map(Path, options.downloads), out, SafeConsole())
    for student, why in done.left_out.items():
        say(f"left out: {student} {why}")
    for name in done.nobodys:
        say(f"left out: no student matches {name} (`grading collect` asks whose it is)")
    if done.not_in_it:
        say(f"not in the download: {', '.join(done.not_in_it)}")
    if not done.names:
        say("grading: nothing was written. No student in the download has feedback.", file=sys.stderr)
        return NOT_DONE
    say(f"{out}: {plural(len(done.names), 'page')} written. Upload it to your LMS.")
    return NEEDS_A_PERSON if done.left_out or done.nobodys else DONE


def _push(options: argparse.Namespace) -> int:
    from grading.safe_console import SafeConsole

    from ..coordinator.class_data import load_class, load_roster
    from ..coordinator.console_tables import show_push
    from ..errors import StepFailed
    from ..extras import demand_extra

    demand_extra("canvas", "Sending points to Canvas")
    from ..lms.canvas_api import CanvasAssignment

    course, lesson, root = load_class(options.root), options.lesson, options.root
    free = {student for student, name in course.excused if name == lesson}
    graded = course.whole(lesson)
    if not graded:
        raise StepFailed(f"nothing was sent: {lesson} has no complete grades. Run `grading grade {lesson}` first")
    waits = sorted(one.student for one in course.submissions if one.lesson == lesson and one.open)
    there = CanvasAssignment(options.url, options.canvas_course, lesson, options.assignment)
    points = {one.student: one.points for one in graded}
    plan = there.plan(load_roster(root), points, free, graded[0].most, options.by)
    show_push(plan, waits, SafeConsole())
    if not plan.to_send or not confirmed(options, f"send these points to {plan.assignment!r}"):
        return DONE
    otherwise = there.send(plan.to_send)
    say(f"{plural(len(plan.to_send) - len(otherwise), 'grade')} sent; Canvas shows them as sent")
    for one, held in otherwise:
        shown = held or "nothing"
        say(f"{one.student}: sent {one.now}, but Canvas shows {shown}. Its own late policy may take points off.")
    return NEEDS_A_PERSON if otherwise else DONE
