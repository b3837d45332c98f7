"""A lesson of a class graded: workers judge side by side, one writer keeps each grade as it comes.

What is to be graded is told by content (`Standing`), so whoever is interrupted goes on where they were. Workers are
those of a `concurrent.futures.Executor`: threads that each wait for a judge, which is a process of its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from grading.judging import client
from grading.judging.notebook.place import MAX_BYTES
from grading.nbgrader_plugins.execute import diagnosed
from grading.nbgrader_plugins.standing import Standing
from grading.seeds import name_of

from .submission import Graded, Task, grade
from .writer import Writer

USED = ("IgnorePattern", "LimitOutput", "SubmissionExporter")  # of the configuration, by workers


class NotHandedIn(Exception):
    """There is no notebook of the lesson in what was handed in; the message says what there is."""


@dataclass
class Plan:
    """What is to be graded of one lesson: student -> why, in words; and who handed in no notebook of it."""

    lesson: str
    standing: Standing
    why: dict[str, list[str]] = field(default_factory=dict)
    stands: list[str] = field(default_factory=list)
    without: dict[str, str] = field(default_factory=dict)


def plan(coursedir: CourseDirectory, config: Config, lesson: str, students: list[str], *, again: bool) -> Plan:
    """Look at what these students handed in. Raises MissingEntry where the lesson is not released."""
    made = Plan(lesson, Standing(coursedir, config, lesson))
    for student in students:
        try:
            _notebook(coursedir, lesson, student)
        except NotHandedIn as reason:
            made.without[student] = str(reason)
            continue
        why = made.standing.why_not(student)
        if why or again:
            made.why[student] = why or ["it was asked for"]
        else:
            made.stands.append(student)
    return made


def carry_out(
    made: Plan, config: Config, workers: Executor, at_once: int, done: Callable[[str, Exception | None], None]
) -> None:
    """Grade what is planned. `done` is told each student, as the grade is written, or why there is none.

    Raises SandboxUnavailable, and OSError and sqlalchemy's errors where grades cannot be written: then nobody else is
    graded, and what was written is kept.
    """
    standing, left = made.standing, iter(sorted(made.why))
    config = Config({key: config[key] for key in USED if key in config})
    with Writer(standing.coursedir, config, standing) as writer:
        waiting: dict[Future[Graded], tuple[str, dict[str, str]]] = {}
        while True:
            while len(waiting) < at_once and (student := next(left, None)):
                of = standing.made_of(student)
                waiting[workers.submit(grade, _task(standing, config, student))] = student, of
            if not waiting:
                return
            finished, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in finished:
                student, of = waiting.pop(future)
                try:
                    graded = future.result()
                    diagnosed[standing.graders] |= graded.diagnosed
                    writer.write(graded, of)
                except client.NotGraded as error:
                    done(student, error)
                else:
                    done(student, None)


@contextmanager
def threads(number: int) -> Iterator[Executor]:
    """So many workers of this process. Left by an exception, they end at once, with their judges."""
    client.resume()
    with ThreadPoolExecutor(number) as executor:
        try:
            yield executor
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            client.stop()
            raise


def _task(standing: Standing, config: Config, student: str) -> Task:
    file = str(_notebook(standing.coursedir, standing.lesson, student))
    seed = name_of(standing.execute.secret)
    return Task(student, file, standing.work(), config.SubmissionExporter.get("max_bytes", MAX_BYTES), seed, config)


def _notebook(coursedir: CourseDirectory, lesson: str, student: str) -> Path:
    """The submitted notebook's place. Raises NotHandedIn."""
    folder = Path(coursedir.format_path(coursedir.submitted_directory, student, lesson))
    notebook = folder / f"{lesson}.ipynb"
    if not os.path.lexists(notebook):
        there = ", ".join(sorted(path.name for path in folder.glob("*"))) or "nothing"
        raise NotHandedIn(f"no {lesson}.ipynb was handed in, but {there}")
    return notebook
