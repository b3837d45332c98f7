"""Verbs of the `grading` command for changing one's mind and handing back: their arguments and what they do."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from .course import Verb

if TYPE_CHECKING:
    from ..coordinator.recalculate import GradeChange


def declare(verb: Verb, regrade: argparse.ArgumentParser) -> None:
    """Declare the verbs; `regrade` is there, and gets more arguments."""
    regrade.set_defaults(act=_regrade)
    regrade.add_argument(
        "--now", action="store_true", help="as all is now, graders, points, seed: who gains and who loses what"
    )
    _agree(regrade, "write what --now shows; what was is kept (`grading history`)")

    history = verb("history", "grades that others took the place of", _history)
    history.add_argument("lessons", nargs="*", metavar="LESSON", help="all, where none is named")
    history.add_argument("--students", nargs="+", metavar="STUDENT", help="of these only")

    extend = verb("extend", "give students more time for a lesson; grade again for it to count", _extend)
    excuse = verb("excuse", "leave a lesson out of students' grades", _excuse)
    for one in (extend, excuse):
        one.add_argument("lesson", metavar="LESSON")
        one.add_argument("students", nargs="+", metavar="STUDENT")
        one.add_argument("--why", default="", metavar="TEXT", help="kept for you, shown to nobody else")
    time = extend.add_mutually_exclusive_group(required=True)
    time.add_argument("--days", type=float, help="after the due date")
    time.add_argument("--hours", type=float, help="after the due date")
    time.add_argument("--until", metavar="TIME", help='"2026-11-22 23:59 UTC", say')
    time.add_argument("--none", action="store_true", help="take an extension back")
    excuse.add_argument("--none", action="store_true", help="take an excuse back")

    migrate = verb("migrate", "move to a new version of the lessons: first what that does to grades", _migrate)
    migrate.add_argument("new", type=Path, metavar="DIR", help="the new version, with its source/ and grader_tests/")
    _agree(migrate, "do it after the table")

    back = verb("handback", "a zip of feedback files, named as Canvas or Moodle takes them back", _handback)
    back.add_argument("lesson", metavar="LESSON")
    back.add_argument("downloads", nargs="+", type=Path, metavar="DOWNLOAD", help="of what was handed in, as it came")
    back.add_argument("--out", type=Path, metavar="FILE", help="what to write; feedback-LESSON.zip by default")

    push = verb("push", "send a lesson's points to Canvas, after a table of what would be sent", _push)
    push.add_argument("where", choices=["canvas"])
    push.add_argument("lesson", metavar="LESSON")
    push.add_argument("--url", required=True, help="of your Canvas: https://canvas.example.edu")
    push.add_argument(
        "--canvas-course", required=True, metavar="NUMBER", help="in Canvas, from the address of its page"
    )
    push.add_argument("--assignment", default="", metavar="NUMBER", help="where the lesson's name does not tell it")
    push.add_argument("--by", default="", choices=["id", "sis_user_id", "login_id", "email"], help="what tells people")
    _agree(push, "send it after the table")


def _agree(verb: argparse.ArgumentParser, what: str) -> None:
    verb.add_argument("--yes", action="store_true", help=what)


def agreed(options: argparse.Namespace, what: str) -> bool:
    """Whether what was shown is to be done: by --yes, or by the word at a terminal."""
    if options.yes:
        return True
    if sys.stdin is not None and sys.stdin.isatty():
        with suppress(EOFError):
            return input(f"{what}? Type yes to do so: ").strip().casefold() == "yes"
        return False
    print(f"Nothing is done yet. {what} with --yes.")
    return False


def _regrade(options: argparse.Namespace) -> int:
    from ..coordinator.classroom import cores

    workers = options.workers or cores()
    if options.now or options.yes:
        return _revise(options, workers)
    from ..coordinator.verify_grades import verify_grades

    status = 0
    for one in verify_grades(
        options.root,
        options.lessons,
        students=options.students,
        seed=options.seed,
        unsandboxed=options.unsandboxed,
        workers=workers,
    ):
        print(one, flush=True)
        status = status or int(bool(one.differs or one.failed))
    return status


def _revise(options: argparse.Namespace, workers: int) -> int:
    from rich.console import Console

    from ..coordinator.console_tables import show_revised
    from ..coordinator.nbgrader_api import GradingError
    from ..coordinator.recalculate import recalculate

    if options.seed:
        raise GradingError("--now judges by the course's seed as it is now: leave out --seed, or --now and --yes")
    failed = 0

    def shown(found: Sequence[GradeChange]) -> bool:
        nonlocal failed
        show_revised(found, Console())
        failed = sum(bool(one.failed) for one in found)
        return len(found) > failed and agreed(options, "Write these grades")

    written = recalculate(
        options.root,
        options.lessons,
        shown,
        students=options.students,
        unsandboxed=options.unsandboxed,
        workers=workers,
    )
    if written:
        print(f"{written} grades written. `grading history` shows what was; `grading feedback` makes the pages anew.")
    return min(1, failed)


def _history(options: argparse.Namespace) -> int:
    from rich.console import Console

    from ..coordinator.console_tables import show_history
    from ..coordinator.extensions import history
    from ..coordinator.nbgrader_api import scores

    past = [
        was
        for was in history(options.root)
        if was.lesson in options.lessons and (not options.students or was.student in options.students)
    ]
    show_history(past, scores(options.root) if past else {}, Console())
    return 0


def _extend(options: argparse.Namespace) -> int:
    from ..coordinator.extensions import extend

    for line in extend(options.root, options.lesson, options.students, _more(options), options.until, options.why):
        print(line)
    print(f"`grading grade {options.lesson}` makes it count for what is graded already.")
    return 0


def _more(options: argparse.Namespace) -> float | None:
    """Seconds; None where they are not told, or an extension is taken back."""
    if options.days is not None:
        return float(options.days * 86400)
    return None if options.hours is None else float(options.hours * 3600)


def _excuse(options: argparse.Namespace) -> int:
    from ..coordinator.extensions import excuse

    for line in excuse(options.root, options.lesson, options.students, not options.none, options.why):
        print(line)
    return 0


def _migrate(options: argparse.Namespace) -> int:
    from rich.console import Console

    from ..coordinator.classroom import cores
    from ..coordinator.console_tables import show_revised
    from ..coordinator.migrate_lessons import Migration, migrate

    console = Console()

    def shown(plan: Migration) -> bool:
        print("\n".join(plan.lines()) or "The lessons and graders are the same.")
        show_revised(plan.found, console)
        return agreed(options, "Move the course, and write these grades")

    done = migrate(options.root, options.new, shown, console, workers=cores())
    if done.kept:
        print(f"{done.written} grades written. {done.kept.name}/ has the old lessons, `grading history` the old grades")
        if done.new:
            print(f"`grading release {' '.join(done.new)}` gives out what is new")
    return 0


def _handback(options: argparse.Namespace) -> int:
    from rich.console import Console

    from ..coordinator.return_feedback import hand_back
    from ..course_dir.paths import list_lessons

    (lesson,) = list_lessons(options.root, [options.lesson])
    out = options.out or Path(f"feedback-{lesson}.zip")
    done = hand_back(options.root, lesson, options.downloads, out, Console())
    for student, why in done.left_out.items():
        print(f"left out: {student} {why}")
    for name in done.nobodys:
        print(f"left out: nobody is known by {name} (`grading collect` asks whose it is)")
    if done.not_in_it:
        print(f"not in the download: {', '.join(done.not_in_it)}")
    if not done.names:
        print("grading: nothing was written. Nobody in it has feedback to hand back", file=sys.stderr)
        return 1
    print(f"{out}: {len(done.names)} pages written, to be uploaded to your LMS as they are named")
    return 0


def _push(options: argparse.Namespace) -> int:
    from rich.console import Console

    from ..coordinator.console_tables import show_push
    from ..coordinator.nbgrader_api import GradingError
    from ..lms.gradebook_csv import ExportError

    try:
        from ..lms.canvas_api import CanvasAssignment
    except ImportError as error:
        raise GradingError(f'{error}: it takes `pip install "attention-course-teach[canvas]"`') from error
    from ..coordinator.class_data import load_class, load_roster

    course, lesson, root = load_class(options.root), options.lesson, options.root
    free = {student for student, name in course.excused if name == lesson}
    graded = course.whole(lesson)
    if not graded:
        print(f"grading: nothing was sent. {lesson} has no grades that are whole yet", file=sys.stderr)
        return 1
    waits = sorted(one.student for one in course.submissions if one.lesson == lesson and one.open)
    try:
        there = CanvasAssignment(options.url, options.canvas_course, lesson, options.assignment)
        points = {one.student: one.points for one in graded}
        plan = there.plan(load_roster(root), points, free, graded[0].most, options.by)
        show_push(plan, waits, Console())
        if not plan.to_send or not agreed(options, f"Send these to {plan.assignment!r}"):
            return 0
        otherwise = there.send(plan.to_send)
    except ExportError as error:
        print(f"grading: {error}", file=sys.stderr)
        return 1
    print(f"{len(plan.to_send) - len(otherwise)} sent, and read back as they were sent")
    for one, held in otherwise:
        held = held or "nothing"
        print(f"{one.student}: sent {one.now}, and Canvas has {held}: its own late policy may take points off")
    return min(1, len(otherwise))
