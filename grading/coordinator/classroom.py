"""Steps over a class, with progress shown: release, grade, feedback, and the demonstration that does them all.

One broken submission is told and never stops the rest; a grade that stands is not made again.
"""

from __future__ import annotations

import errno
import logging
import os
import time
from collections.abc import Callable, Container, Iterable, Iterator
from concurrent.futures import Executor, as_completed
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from nbgrader.coursedir import CourseDirectory
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text
from sqlalchemy.exc import SQLAlchemyError
from traitlets.config import Config

from ..class_report.short_names import shortened
from ..course_dir.paths import list_lessons
from ..gradebook.lock import exclusive
from ..sandbox import require
from .executors import ClusterLost, Workers, pool, threads
from .nbgrader_api import GradingError, configuration, feedback, handed_in, is_registered, needs_manual_grading, release
from .schedule import Plan, plan_grading, run_plan

DISK = (errno.ENOSPC, errno.EDQUOT)


class CannotWrite(RuntimeError):
    """Grades cannot be written, so none is made; the message says why, and what is kept."""


@dataclass
class Outcome:
    """What became of a class, by (lesson, student): graded now and why, graded before, and why not graded.

    tell  is given each record as soon as it is known: lesson, student, what became of it, and why
    """

    tell: Callable[[dict[str, str]], object] = lambda record: None
    graded: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    stands: list[tuple[str, str]] = field(default_factory=list)
    failed: dict[tuple[str, str], str] = field(default_factory=dict)

    def is_graded(self, lesson: str, student: str, why: list[str]) -> None:
        self.graded[lesson, student] = why
        self._tell(lesson, student, "graded", " and ".join(why))

    def was_graded(self, lesson: str, student: str) -> None:
        self.stands.append((lesson, student))
        self._tell(lesson, student, "graded before")

    def is_not_graded(self, lesson: str, student: str, why: str) -> None:
        """Student "": nobody in this lesson is."""
        self.failed[lesson, student] = why
        self._tell(lesson, student, "not graded", why)

    def is_to_be_graded(self, lesson: str, student: str, why: list[str]) -> None:
        self._tell(lesson, student, "to be graded", " and ".join(why))

    def _tell(self, lesson: str, student: str, outcome: str, why: str = "") -> None:
        self.tell({"lesson": lesson, "student": student, "outcome": outcome, "why": why})


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def release_lessons(root: Path, names: Iterable[str], console: Console, *, workers: int = 0) -> None:
    """Build lessons, so many at a time, one a core by default, and release each in turn, since one process writes the
    gradebook. Raises GradingError, CourseError."""
    from ..authoring.build import build_lesson  # it brings torch, which grading leaves to the judges

    with pool(workers or cores()) as executor:
        building = {name: executor.submit(build_lesson, root, name) for name in list_lessons(root, names)}
        for name, built in building.items():
            built.result()
            _release_built(root, name, console)


def _release_built(root: Path, name: str, console: Console) -> None:
    built, released = (root / step / name / f"{name}.ipynb" for step in ("source", "release"))
    newer = released.exists() and released.stat().st_mtime_ns > built.stat().st_mtime_ns
    if newer and is_registered(root, name):
        console.print(f"{name}: release is up to date")
        return
    release(root, name)
    console.print(f"{name}: released to {released.relative_to(root)}")


def grade_class(
    root: Path,
    names: Iterable[str],
    console: Console,
    *,
    students: Container[str] | None = None,
    again: bool = False,
    unsandboxed: bool = False,
    workers: int = 0,
    scheduler: str = "",
    dry: bool = False,
    tell: Callable[[dict[str, str]], object] = lambda record: None,
) -> Outcome:
    """Grade what was handed in and has no grade that stands (`again`: all of it), by so many workers, one a core by
    default, or by the Dask cluster whose scheduler is at this address. dry: only say what would be graded, and why.
    tell: as in `Outcome`.

    Raises SandboxUnavailable, and grades nothing, where this machine cannot confine student code; unless `unsandboxed`
    or the course's configuration says to do without, or the cluster is to. Raises AtWork where another process grades
    this course, CannotWrite where grades cannot be written, ClusterLost where the cluster does not grade: what is
    graded is kept.
    """
    config = configuration(root, unsandboxed=unsandboxed)
    if config.JudgedExecute.get("unsandboxed", False):
        console.print("Without the sandbox: student code can do all that you can. Every grade is marked so.")
    elif not dry and not scheduler:
        require()
    coursedir, outcome = CourseDirectory(config=config), Outcome(tell)
    by = threads(workers or cores()) if dry or not scheduler else _cluster(scheduler)
    with exclusive(root), _progress(console) as progress, _heard(progress.console), by as judges:
        for name in list_lessons(root, names):
            chosen = [one for one in handed_in(root, name) if students is None or one in students]
            if chosen and not is_registered(root, name):
                outcome.is_not_graded(
                    name, "", "is not released yet, so nothing of it can be graded: run `grading release`"
                )
            elif chosen:
                made = plan_grading(coursedir, config, name, chosen, again=again)
                for student, reasons in made.reasons.items():
                    outcome.is_to_be_graded(name, student, reasons)
                if dry:
                    _say(made, progress.console)
                else:
                    _grade_lesson(made, config, judges, progress, outcome)
    if not dry and (outcome.graded or outcome.failed):
        console.print(_in_rows(outcome, {(lesson, student) for student, lesson, _ in needs_manual_grading(root)}))
    for (name, student), why in outcome.failed.items():
        told = f"{name}, {student}: {why}" if student else f"{name} {why}"
        console.print(Text.assemble(("✗ ", "red"), told), soft_wrap=True)
    return outcome


def _in_rows(outcome: Outcome, unsettled: Container[tuple[str, str]]) -> Table:
    """A row for each lesson: how many have a grade, made now or before, how many of those need a person, and how many
    have none."""
    table = Table("lesson", box=SIMPLE_HEAD)
    for head in ("graded now", "as before", "needs a person", "not graded"):
        table.add_column(head, justify="right")
    whole = [*outcome.graded, *outcome.stands]
    for lesson in sorted({lesson for lesson, _ in (*whole, *outcome.failed)}):
        open_ = [whose for whose in whole if whose in unsettled]
        counts = (sum(name == lesson for name, _ in some) for some in (outcome.graded, outcome.stands, open_))
        left = [student for name, student in outcome.failed if name == lesson]
        table.add_row(lesson, *map(str, counts), str(len(left)) if all(left) else "all")
    return table


def _say(made: Plan, console: Console) -> None:
    for student, why in made.reasons.items():
        console.print(Text(f"{made.lesson}, {student}: to be graded, since {' and '.join(why)}"), soft_wrap=True)
    console.print(
        f"{made.lesson}: {len(made.reasons)} to be graded, {len(made.up_to_date)} graded and not changed since"
    )


def _cluster(address: str) -> AbstractContextManager[Workers]:
    try:
        from .cluster import cluster
    except ImportError as error:
        raise ClusterLost(
            f'{error}: grading on a cluster takes `pip install "attention-course-teach[cluster]"`'
        ) from error
    return cluster(address)


def _grade_lesson(made: Plan, config: Config, workers: Workers, progress: Progress, outcome: Outcome) -> None:
    name = made.lesson
    for student in made.up_to_date:
        outcome.was_graded(name, student)
    for student, why in made.missing.items():
        outcome.is_not_graded(name, student, why)
    if made.reasons:
        workers.make_ready(made.standing.job())
        row, begun = progress.add_task(name, total=len(made.reasons)), time.monotonic()

        def done(student: str, error: Exception | None) -> None:
            if error is None:
                outcome.is_graded(name, student, made.reasons[student])
            else:
                outcome.is_not_graded(name, student, f"not graded: {error}")
            progress.update(row, advance=1, description=f"{name}: {shortened(student)}")

        try:
            run_plan(made, config, workers, done)
        except ClusterLost as error:
            raise ClusterLost(f"{error}. {_kept(outcome)}") from error
        except (OSError, SQLAlchemyError) as error:
            raise CannotWrite(f"grades cannot be written: {_why(error)}. {_kept(outcome)}") from error
        new = sum(lesson == name for lesson, _ in outcome.graded)
        each = f", {(time.monotonic() - begun) / new:.1f} s each" if new else ""
        progress.update(row, description=f"{name}: {new} graded{each}")
    if made.up_to_date:
        progress.console.print(f"{name}: {len(made.up_to_date)} graded before, and not changed since")


def _why(error: Exception) -> str:
    full = getattr(error, "errno", 0) in DISK or "disk is full" in str(error)
    return "the disk is full" if full else " ".join(str(getattr(error, "orig", error)).split())


def _kept(outcome: Outcome) -> str:
    return f"{len(outcome.graded)} are written and kept; the others are graded by the next run"


@contextmanager
def _heard(console: Console) -> Iterator[None]:
    """What is logged meanwhile, said above the bar, and everything once."""

    said: set[str] = set()

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if (text := record.getMessage()) not in said:
                said.add(text)
                console.print(Text(text, style="dim"), soft_wrap=True)

    log, handler = logging.getLogger("grading"), Handler(logging.WARNING)
    log.addHandler(handler)
    log.propagate = False
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.propagate = True


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description:<40}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
    )


def write_feedback(root: Path, names: Iterable[str], console: Console, *, workers: int = 0) -> int:
    """Feedback for all that is graded, by so many workers, one a core by default; returns how many could not be
    written."""
    failed: list[str] = []
    with _progress(console) as progress, pool(workers or cores()) as executor:
        for name in list_lessons(root, names):
            students = handed_in(root, name, "autograded")
            if students and not is_registered(root, name):
                failed += [f"{name} is not released yet, so nothing of it can be feedback: run `grading release`"]
            else:
                failed += _write_pages(root, name, students, executor, progress)
    for message in failed:
        console.print(Text.assemble(("✗ ", "red"), message), soft_wrap=True)
    return len(failed)


def _write_pages(root: Path, name: str, students: list[str], executor: Executor, progress: Progress) -> list[str]:
    """What is to be told of the pages that could not be written, in the order of students."""
    row, begun, failed = progress.add_task(f"{name}: feedback", total=len(students)), time.monotonic(), dict[str, str]()
    pages = {executor.submit(feedback, root, name, student): student for student in students}
    for page in as_completed(pages):
        student = pages[page]
        try:
            page.result()
        except GradingError as error:
            failed[student] = str(error)
        progress.update(row, advance=1, description=f"{name}: {shortened(student)}")
    new = len(students) - len(failed)
    each = f", {(time.monotonic() - begun) / new:.1f} s each" if new else ""
    progress.update(row, description=f"{name}: {new} feedback{each}")
    return [failed[student] for student in sorted(failed)]


def demonstrate(root: Path, console: Console) -> int:
    """The whole road for a sample class: release, hand in, grade, feedback. Returns how many steps failed."""
    from .demo_class import hand_in, sample_class

    names = list_lessons(root)
    release_lessons(root, names, console)
    for name in names:
        new = [student for student, notebook in sample_class(root, name) if hand_in(root, name, student, notebook)]
        console.print(f"{name}: {len(new)} sample submissions handed in" if new else f"{name}: sample class reused")
    return len(grade_class(root, names, console).failed) + write_feedback(root, names, console)
