"""Grade a class and show the progress.

Reports a broken submission and goes on with the others. Does not compute up-to-date grades again.
"""

from __future__ import annotations

import errno
import shlex
import time
from collections.abc import Callable, Collection, Container
from dataclasses import dataclass, field
from datetime import UTC, datetime
from difflib import get_close_matches

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text
from sqlalchemy.exc import SQLAlchemyError

from ..class_report.short_names import shortened
from ..course import Course
from ..cpu_count import cpu_count
from ..errors import CannotWrite, ClusterLost
from ..gradebook.lock import exclusive
from ..gradebook.store import stored_grades
from ..sandbox import require
from ..stopped import tell_if_stopped
from .agreement import disagreements
from .due_dates import set_due_dates
from .executors import Workers, threads, workers_at
from .progress import log_above, progress_bars, seconds_each, show_failures
from .schedule import Plan, plan_grading, put_in_place, run_plan

DISK_FULL = (errno.ENOSPC, errno.EDQUOT)


@dataclass
class ClassOutcome:
    """The outcome for a class, by (lesson, student).

    graded   graded in this run, with the reasons
    failed   not graded, with the reason
    open     graded, but something in the submission needs a person
    planned  to be graded in this run
    report   called with lesson, student, outcome and why of each submission as soon as they are known
    """

    report: Callable[[dict[str, str]], object] = lambda record: None
    graded: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    up_to_date: list[tuple[str, str]] = field(default_factory=list)
    failed: dict[tuple[str, str], str] = field(default_factory=dict)
    open: set[tuple[str, str]] = field(default_factory=set)
    planned: set[tuple[str, str]] = field(default_factory=set)

    def add_graded(self, lesson: str, student: str, why: list[str]) -> None:
        self.graded[lesson, student] = why
        self._report(lesson, student, "graded", " and ".join(why))

    def add_up_to_date(self, lesson: str, student: str) -> None:
        self.up_to_date.append((lesson, student))
        self._report(lesson, student, "graded before")

    def add_failed(self, lesson: str, student: str, why: str) -> None:
        """Record why a student is not graded; student "": the whole lesson."""
        self.failed[lesson, student] = why
        self._report(lesson, student, "not graded", why)

    def announce(self, lesson: str, student: str, why: list[str]) -> None:
        """Report that a submission is to be graded."""
        self.planned.add((lesson, student))
        self._report(lesson, student, "to be graded", " and ".join(why))

    def _report(self, lesson: str, student: str, outcome: str, why: str = "") -> None:
        self.report({"lesson": lesson, "student": student, "outcome": outcome, "why": why})


def grade_class(
    course: Course,
    names: Collection[str],
    console: Console,
    *,
    students: Container[str] | None = None,
    again: bool = False,
    workers: int = 0,
    scheduler: str = "",
    dry: bool = False,
    report: Callable[[dict[str, str]], object] = lambda record: None,
) -> ClassOutcome:
    """Grade the submissions that have no up-to-date grade.

    again      grade all submissions
    workers    number of submissions graded at once (default: one per processor)
    scheduler  address of a Dask cluster that grades instead of this machine
    dry        only show what would be graded, and why
    report     as in `ClassOutcome`

    Raises SandboxUnavailable, and grades nothing, if this machine cannot confine student code, unless the course is
    graded without the sandbox, or a cluster grades. Raises CourseLocked if another process grades this course,
    CannotWrite if grades cannot be written, ClusterLost if the cluster fails. In all cases finished grades are kept.
    """
    cluster = workers_at(scheduler) if scheduler else None
    if not course.sandboxed:
        console.print("Without the sandbox: student code can do everything that you can, and every grade is marked.")
    elif not dry and not cluster:
        require()
    outcome = ClassOutcome(report)
    begun = datetime.now(UTC).replace(tzinfo=None)  # as in the gradebook
    by = threads(workers or cpu_count()) if dry or not cluster else cluster
    with (
        tell_if_stopped(lambda: _kept_grades(course, outcome, begun)),
        exclusive(course.root),
        progress_bars(console) as progress,
        log_above(progress.console),
        by as executors,
    ):
        lessons = course.lessons(names)
        if not names:
            _name_unknown_folders(course, lessons, progress.console)
        for line in set_due_dates(course, lessons):
            progress.console.print(line)
        for name in lessons:
            chosen = [who for who in course.students_in_submitted(name) if students is None or who in students]
            if chosen and not course.is_registered(name):
                outcome.add_failed(name, "", "is not released yet, so it cannot be graded: run `grading release`")
            elif chosen and (problems := disagreements(course, name)):
                outcome.add_failed(name, "", f"is not graded. {' '.join(problems)}")
            elif chosen:
                if not dry:
                    put_in_place(course, name, chosen)
                plan = plan_grading(course, name, chosen, again=again)
                for student, reasons in plan.reasons.items():
                    outcome.announce(name, student, reasons)
                if dry:
                    _show_plan(plan, progress.console)
                else:
                    _grade_lesson(plan, course, executors, progress, outcome)
    if outcome.graded or outcome.up_to_date:
        open_ = {(lesson, student) for student, lesson, _ in course.needs_manual_grading()}
        outcome.open = open_.intersection([*outcome.graded, *outcome.up_to_date])
    if not dry and (outcome.graded or outcome.failed):
        console.print(_table(outcome))
    failed = outcome.failed.items()
    show_failures((f"{name}, {who}: {why}" if who else f"{name} {why}" for (name, who), why in failed), console)
    return outcome


def _table(outcome: ClassOutcome) -> Table:
    """One row per lesson with the number of submissions in each state."""
    table = Table("lesson", box=SIMPLE_HEAD)
    for head in ("graded now", "graded before", "needs a person", "not graded"):
        table.add_column(head, justify="right")
    whole = [*outcome.graded, *outcome.up_to_date]
    for lesson in sorted({lesson for lesson, _ in (*whole, *outcome.failed)}):
        counts = (
            sum(name == lesson for name, _ in some) for some in (outcome.graded, outcome.up_to_date, outcome.open)
        )
        left = [student for name, student in outcome.failed if name == lesson]
        table.add_row(lesson, *map(str, counts), str(len(left)) if all(left) else "all")
    return table


def _name_unknown_folders(course: Course, lessons: list[str], console: Console) -> None:
    """Name the folders in submitted/ that belong to no lesson, with what to do about each."""
    folders = [path for path in sorted((course.root / "submitted").glob("*/*/")) if not path.name.startswith(".")]
    others = {path.name: path for path in folders if path.name not in lessons}
    for name, path in others.items():
        if course.is_registered(name):
            line = f"{name}: an ordinary nbgrader assignment; run `nbgrader autograde {shlex.quote(name)}` to grade it"
        else:
            near = get_close_matches(name.lower(), lessons, 1)
            remedy = f"; if you mean {near[0]}, rename the folder" if near else ""
            line = f"{path.relative_to(course.root)}: not graded, because there is no lesson {name}{remedy}"
        console.print(Text(line), soft_wrap=True)


def _show_plan(plan: Plan, console: Console) -> None:
    for student, why in plan.reasons.items():
        console.print(Text(f"{plan.lesson}, {student}: to grade, because {' and '.join(why)}"), soft_wrap=True)
    console.print(f"{plan.lesson}: {len(plan.reasons)} to grade, {len(plan.up_to_date)} graded before and unchanged")


def _grade_lesson(plan: Plan, course: Course, workers: Workers, progress: Progress, outcome: ClassOutcome) -> None:
    name = plan.lesson
    for student in plan.up_to_date:
        outcome.add_up_to_date(name, student)
    for student, why in plan.missing.items():
        outcome.add_failed(name, student, why)
    if plan.reasons:
        workers.make_ready(plan.freshness.job())
        row, begun = progress.add_task(name, total=len(plan.reasons)), time.monotonic()

        def done(student: str, error: Exception | None) -> None:
            if error is None:
                outcome.add_graded(name, student, plan.reasons[student])
            else:
                outcome.add_failed(name, student, f"not graded: {error}")
            progress.update(row, advance=1, description=f"{name}: {shortened(student)}")

        try:
            run_plan(plan, course.config, workers, done)
        except ClusterLost as error:
            raise ClusterLost(f"{error}. {_kept_message(outcome)}") from error
        except (OSError, SQLAlchemyError) as error:
            raise CannotWrite(f"grades cannot be written: {_write_error(error)}. {_kept_message(outcome)}") from error
        new = sum(lesson == name for lesson, _ in outcome.graded)
        progress.update(row, description=f"{name}: {new} graded{seconds_each(begun, new)}")
    if plan.up_to_date:
        progress.console.print(f"{name}: {len(plan.up_to_date)} graded before and unchanged")


def _write_error(error: Exception) -> str:
    full = getattr(error, "errno", 0) in DISK_FULL or "disk is full" in str(error)
    return "the disk is full" if full else " ".join(str(getattr(error, "orig", error)).split())


def _kept_grades(course: Course, outcome: ClassOutcome, begun: datetime) -> str:
    """Say how much is kept when grading stops.

    Asks the gradebook, since the last grade may be written but not reported yet.
    """
    with course.gradebook() as gradebook:
        new = [grade for grade in stored_grades(gradebook) if grade.graded_at >= begun]
    number = sum((grade.lesson, grade.student) in outcome.planned for grade in new)
    return (
        f"{number} of {len(outcome.planned)} submissions are graded and kept; run the same command again to continue."
    )


def _kept_message(outcome: ClassOutcome) -> str:
    return f"{len(outcome.graded)} grades are written and kept; the next run grades the others"
