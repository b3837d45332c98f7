"""Verbs that change or compare grades: regrade, verify-grades, history and others.

The others, extend and excuse, change what counts for a grade.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from grading.points import rounded
from grading.safe_text import plural, say

from .arguments import (
    DONE,
    NEEDS_A_PERSON,
    NOT_DONE,
    Commands,
    add_json,
    add_lesson,
    add_lessons,
    add_students,
    add_unsandboxed,
    add_workers,
    add_yes,
    confirmed,
    emit,
)

if TYPE_CHECKING:
    from ..coordinator.recalculate import GradeChange
    from ..gradebook.history import PastGrade, ScoreSnapshot


def add_commands(commands: Commands) -> None:
    regrade = commands.add("regrade", _regrade, example="regrade 02_softmax")
    verify = commands.add("verify-grades", _verify_grades, example="verify-grades 02_softmax")
    for verb in (regrade, verify):
        add_lessons(verb, ordinary=True)
        add_students(verb)
        add_unsandboxed(verb)
        add_workers(verb, "submissions")
    add_yes(regrade, "write the changed grades")
    add_json(regrade, "changed grade")
    add_json(verify, "grade")
    verify.add_argument(
        "--seed", default="", metavar="NAME", help="name of another seed (default: the seed recorded with each grade)"
    )

    history = commands.add("history", _history, example="history 02_softmax --students ada")
    add_json(history, "replaced grade")
    add_lessons(history, ordinary=True)
    add_students(history)

    extend = commands.add("extend", _extend, example="extend 02_softmax ada --days 2")
    excuse = commands.add("excuse", _excuse, example='excuse 02_softmax ada --why "illness"')
    for verb, about in ((extend, "lesson that gets more time"), (excuse, "lesson to leave out")):
        add_lesson(verb, about)
        add_students(verb, required=True)
        verb.add_argument(
            "--why", default="", metavar="TEXT", help="note for yourself, which students never see (default: none)"
        )
    time = extend.add_mutually_exclusive_group(required=True)
    time.add_argument("--days", type=float, metavar="N", help="number of calendar days after the due date")
    time.add_argument("--hours", type=float, metavar="N", help="number of hours after the due date")
    time.add_argument(
        "--until", metavar="TIME", help='new due date, such as "2026-11-22 23:59", in the course\'s time zone'
    )
    time.add_argument("--none", action="store_true", help="end of an earlier extension: the due date holds again")
    excuse.add_argument("--none", action="store_true", help="end of an earlier excuse: the lesson counts again")


def _regrade(options: argparse.Namespace) -> int:
    from grading.safe_console import SafeConsole

    from ..coordinator.console_tables import show_revised
    from ..coordinator.recalculate import recalculate
    from ..cpu_count import cpu_count

    failed = 0

    def agreed(found: Sequence[GradeChange]) -> bool:
        nonlocal failed
        show_revised(found, SafeConsole())
        for one in found:
            emit(options, "change", **change_record(one))
        failed = sum(bool(one.failed) for one in found)
        return len(found) > failed and confirmed(options, "write these grades")

    written = recalculate(
        options.course,
        options.lessons,
        agreed,
        students=options.students,
        workers=options.workers or cpu_count(),
    )
    if written:
        say(
            f"{plural(written, 'grade')} written. `grading history` shows the old ones. Run `grading feedback` to "
            "write the new pages."
        )
    return NOT_DONE if failed else DONE


def _verify_grades(options: argparse.Namespace) -> int:
    from ..coordinator.verify_grades import verify_grades
    from ..cpu_count import cpu_count

    status = DONE
    for one in verify_grades(
        options.course,
        options.lessons,
        students=options.students,
        seed=options.seed,
        workers=options.workers or cpu_count(),
    ):
        say(one, flush=True)
        emit(options, "verification", **asdict(one), same=not (one.differs or one.failed))
        status = max(status, NOT_DONE if one.failed else NEEDS_A_PERSON if one.differs else DONE)
    return status


def _history(options: argparse.Namespace) -> int:
    from grading.safe_console import SafeConsole

    from ..coordinator.console_tables import show_history
    from ..coordinator.extensions import history

    past = [
        was
        for was in history(options.course)
        if was.lesson in options.lessons and (not options.students or was.student in options.students)
    ]
    show_history(past, options.course.scores() if past else {}, SafeConsole(), options.course.zone)
    for was in past:
        emit(options, "past grade", **_past(was))
    return DONE


def _past(was: PastGrade) -> dict[str, Any]:
    exercises = [
        {"exercise": name, "points": score.points, "most": score.most, "found": score.found, "by_hand": score.by_hand}
        for name, score in was.standings.exercises.items()
    ]
    return {
        "lesson": was.lesson,
        "student": was.student,
        "graded_at": f"{was.graded_at:%Y-%m-%d %H:%M:%S} UTC",
        "replaced_at": f"{was.replaced_at:%Y-%m-%d %H:%M:%S} UTC",
        "points": _points(was.standings),
        "penalty": rounded(was.standings.penalty),
        "since": was.since,
        "exercises": exercises,
    }


def change_record(one: GradeChange) -> dict[str, Any]:
    """The fields of the record `change` (docs/json.md)."""
    return {
        "lesson": one.lesson,
        "student": one.student,
        "before": None if one.failed else _points(one.before),
        "now": None if one.failed else _points(one.now),
        "penalty_before": rounded(one.before.penalty),
        "penalty_now": rounded(one.now.penalty),
        "since": one.since,
        "differs": one.differs,
        "failed": one.failed,
    }


def _points(snapshot: ScoreSnapshot) -> float | None:
    """The final points; None while something needs a person."""
    return None if snapshot.open else rounded(snapshot.points)


def _extend(options: argparse.Namespace) -> int:
    from ..coordinator.extensions import extend

    more = {"days": options.days, "hours": options.hours, "until": options.until}
    for line in extend(options.course, options.lesson, options.students, **more, why=options.why):
        say(line)
    say(f"Run `grading grade {options.lesson}` to update grades that exist already.")
    return DONE


def _excuse(options: argparse.Namespace) -> int:
    from ..coordinator.extensions import excuse

    for line in excuse(options.course, options.lesson, options.students, not options.none, options.why):
        say(line)
    return DONE
