"""The verb push."""

from __future__ import annotations

import argparse

from grading.cli.arguments import (
    DONE,
    NEEDS_A_PERSON,
    Commands,
    add_json,
    add_lesson,
    add_students,
    add_yes,
    confirmed,
    emit,
    selected,
)
from grading.errors import UsageError
from grading.plugins.lms.verbs import add_provisional, ready_submissions
from grading.safe_text import plural, say


def add_commands(commands: Commands) -> None:
    push = commands.add("push", _push, example="push canvas 02_softmax")
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
    add_provisional(push)
    add_json(push, "student whose points differ in Canvas")
    add_yes(push, "send the points")


def _canvas_place(options: argparse.Namespace) -> tuple[str, str, str, str]:
    """Canvas's address, the course's number, the lesson, the assignment's number.

    Raises UsageError.
    """
    from .settings import CanvasCourse, LessonAssignment

    course = options.course.toml
    entry = course.entry(options.lesson)
    assert isinstance(course, CanvasCourse) and isinstance(entry, LessonAssignment)
    url, number = options.url or course.lms.canvas_url, options.canvas_course or course.lms.canvas_course
    if not url or not number:
        raise UsageError(
            "no Canvas course given: add --url and --canvas-course, or set canvas_url and canvas_course in course.toml"
        )
    return url, str(number), options.lesson, str(options.assignment or entry.canvas or "")


def _push(options: argparse.Namespace) -> int:
    from grading.coordinator.class_data import load_class
    from grading.extras import demand_extra
    from grading.plugins.lms.people import load_roster
    from grading.safe_console import SafeConsole
    from grading.stopped import tell_if_stopped

    demand_extra("canvas", "Sending points to Canvas")
    from .canvas_api import CanvasAssignment
    from .push_table import show_push

    grades, lesson = load_class(options.course), options.lesson
    free = {student for student, name in grades.excused if name == lesson}
    free = {student for student in free if selected(options, student)}
    graded, waits = ready_submissions(grades, lesson, options)
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
