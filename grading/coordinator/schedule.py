"""Grade one lesson of a class with parallel workers and one writer.

Each grade is written as soon as it is made. `LessonFreshness` decides by content what has to be graded, so an
interrupted run continues where it stopped.

Does not cover: the workers (`executors`, `cluster`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, TypeVarTuple

from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import SQLAlchemyError
from traitlets.config import Config

from grading.course_dir.seeds import seed_id
from grading.course_dir.student_ids import why_unfit
from grading.errors import ClusterLost, GradingError, NotHandedIn, SubmissionNotGraded
from grading.gradebook.freshness import LessonFreshness
from grading.gradebook.grade_inputs import only_lateness
from grading.nbgrader_plugins.execute import lesson_freshness, warm_mistakes
from grading.notebooks.submitted_file import MAX_BYTES
from grading.sandbox import SandboxUnavailable

from ..course import Course
from ..submitted.file_names import printable
from ..submitted.submitted_dir import choose_file, note_on_choice, submitted_folder
from .executors import Workers
from .gradebook_writer import Writer
from .progress import describe_error
from .submission import GradedNotebook, GradingTask

LOOK_AGAIN = 5.0  # seconds without a result after which workers are counted again
NO_JUDGE = (SandboxUnavailable, ClusterLost)  # no grade can be made
STOPS_ALL = (OSError, SQLAlchemyError, *NO_JUDGE)  # no grade can be made or written
USED = ("IgnorePattern", "LimitOutput", "SubmissionExporter")  # sections of the configuration that workers need

Given = TypeVarTuple("Given")
Value = TypeVar("Value")


@dataclass
class Plan:
    """The work for one lesson.

    reasons  why to grade a submission, by student
    missing  why a student's notebook is missing
    """

    lesson: str
    freshness: LessonFreshness
    reasons: dict[str, list[str]] = field(default_factory=dict)
    up_to_date: list[str] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)


def plan_grading(course: Course, lesson: str, students: list[str], *, again: bool) -> Plan:
    """Decide which of these submissions to grade.

    Raises MissingEntry if the lesson is not released.
    """
    plan = Plan(lesson, lesson_freshness(course.directory(), course.config, lesson))
    for student in students:
        try:
            _notebook(plan.freshness.coursedir, lesson, student)
            why = plan.freshness.stale_reasons(student)
        except NotHandedIn as reason:
            plan.missing[student] = str(reason)
            continue
        except Exception as error:  # one submission must not stop the class
            plan.missing[student] = f"not graded: {describe_error(error)}"
            continue
        if why or again:
            plan.reasons[student] = why or ["you asked for it"]
        else:
            plan.up_to_date.append(student)
    return plan


def put_in_place(course: Course, lesson: str, students: Iterable[str]) -> None:
    """Give the file that counts the lesson's name, in each folder. Planning reports where none counts."""
    coursedir = course.directory()
    for student in students:
        with suppress(NotHandedIn, OSError):
            submitted_folder(coursedir, student, lesson).put_in_place(coursedir)


def run_plan(plan: Plan, config: Config, workers: Workers, done: Callable[[str, GradingError | None], None]) -> None:
    """Grade what is planned and write each grade.

    Calls `done` for each student, with None once the grade is written, or with an error. Raises SandboxUnavailable and
    ClusterLost, which end all grading, and OSError and SQLAlchemy's errors if grades cannot be written. Grades written
    before stay.
    """
    freshness = plan.freshness
    config = Config({key: config[key] for key in USED if key in config})
    late = {student for student, why in plan.reasons.items() if only_lateness(why)}  # these need no judge
    with Writer(freshness.coursedir, config, freshness) as writer:

        def write_lateness(student: str) -> None:
            writer.write_lateness(student, freshness.grade_inputs(student))

        def write(task: GradingTask, graded: GradedNotebook) -> None:
            writer.write(graded, task.made_of)
            warm_mistakes[freshness.graders] |= graded.diagnosed

        for student in sorted(late):
            done(student, _try(STOPS_ALL, write_lateness, student))
        left = sorted(plan.reasons.keys() - late)
        for student, made in grade_each(left, lambda name: task_of(freshness, config, name), workers, STOPS_ALL):
            done(student, made if isinstance(made, GradingError) else _try(STOPS_ALL, write, *made))


def grade_each(
    students: Iterable[str],
    make_task: Callable[[str], GradingTask],
    workers: Workers,
    stops: tuple[type[Exception], ...] = NO_JUDGE,
) -> Iterator[tuple[str, tuple[GradingTask, GradedNotebook] | GradingError]]:
    """Grade a submission of each student; yields it, or why there is none, as soon as it is finished.

    Makes a task only when workers have room for it. Raises errors of the types `stops`, which end all grading.
    """

    def begin(student: str) -> tuple[Future[Any], GradingTask]:
        task = make_task(student)
        return workers.submit(task), task

    left, waiting = iter(students), dict[Future[Any], tuple[str, GradingTask]]()
    while True:
        room = workers.room()
        while len(waiting) < room and (student := next(left, None)) is not None:
            begun = _try(stops, begin, student)
            if isinstance(begun, GradingError):
                yield student, begun
            else:
                waiting[begun[0]] = student, begun[1]
        if not waiting:
            return
        finished, _ = wait(waiting, LOOK_AGAIN, FIRST_COMPLETED)
        for future in finished:
            student, task = waiting.pop(future)
            graded = _try(stops, workers.result, future, task)
            yield student, graded if isinstance(graded, GradingError) else (task, graded)


def _try(stops: tuple[type[Exception], ...], act: Callable[[*Given], Value], *given: *Given) -> Value | GradingError:
    """Call `act`; returns its error, but raises those of the types `stops`."""
    try:
        return act(*given)
    except stops:
        raise
    except Exception as error:
        return not_graded(error)


def not_graded(error: Exception) -> GradingError:
    """The error as it is reported: any but ours is a fault in grading one submission, and stops no other."""
    return error if isinstance(error, GradingError) else SubmissionNotGraded(describe_error(error))


def task_of(freshness: LessonFreshness, config: Config, student: str) -> GradingTask:
    """A worker's task for this student's submission. Raises NotHandedIn."""
    made_of = freshness.grade_inputs(student)  # first of all: if a file changes from now on, it will be graded again
    file = _notebook(freshness.coursedir, freshness.lesson, student)
    seed, most = seed_id(freshness.execute.secret), config.SubmissionExporter.get("max_bytes", MAX_BYTES)
    note = note_on_choice(file, freshness.lesson)
    return GradingTask(student, str(file), freshness.job(), most, seed, config, made_of, note)


def _notebook(coursedir: CourseDirectory, lesson: str, student: str) -> Path:
    """The path of the submitted notebook.

    Raises NotHandedIn if there is none, or if nbgrader cannot handle the student's id.
    """
    if why := why_unfit(student):
        raise NotHandedIn(why)
    folder = Path(coursedir.format_path(coursedir.submitted_directory, student, lesson))
    chosen = choose_file(folder, coursedir, lesson)
    notebook = folder / f"{lesson}.ipynb"
    if not os.path.lexists(notebook):  # nothing has put it in place
        raise NotHandedIn(f"No {lesson}.ipynb was handed in, but {printable(chosen.name)}")
    return notebook
