"""Write the feedback pages of a class in parallel.

Reports a page that fails and goes on with the others.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Iterable
from concurrent.futures import Executor, as_completed

from rich.console import Console
from rich.progress import Progress

from ..class_report.short_names import shortened
from ..course import Course
from ..cpu_count import cpu_count
from ..errors import StepFailed
from ..stopped import tell_if_stopped
from .converters import generate_feedback
from .executors import pool
from .progress import describe_error, progress_bars, seconds_each, show_failures


def write_feedback(
    course: Course,
    names: Iterable[str],
    console: Console,
    *,
    students: Container[str] | None = None,
    workers: int = 0,
    report: Callable[[dict[str, str]], object] = lambda record: None,
) -> int:
    """Write feedback for all grades, or for some students' grades.

    workers  number of pages written at once (default: one per processor)
    report   called for each page with lesson, student, page ("" if there is none) and why not

    Returns the number of pages that could not be written.
    """
    failed: list[str] = []
    written: list[str] = []

    def done(record: dict[str, str]) -> None:
        written.extend(filter(None, [record["page"]]))
        report(record)

    def kept() -> str:
        return f"{len(written)} pages are written; run the same command again to write the rest."

    with tell_if_stopped(kept), progress_bars(console) as progress, pool(workers or cpu_count()) as executor:
        for name in course.lessons(names):
            chosen = [who for who in course.students_in_autograded(name) if students is None or who in students]
            if chosen and not course.is_registered(name):
                failed += [f"{name} is not released yet, so it has no feedback: run `grading release`"]
            else:
                failed += _write_pages(course, name, chosen, executor, progress, done)
    show_failures(failed, console)
    return len(failed)


def _write_pages(
    course: Course,
    name: str,
    students: list[str],
    executor: Executor,
    progress: Progress,
    done: Callable[[dict[str, str]], object],
) -> list[str]:
    """Write a lesson's pages; returns one message per failed page.

    The messages are in the order of students. Calls `done` for each page.
    """
    row, begun, failed = progress.add_task(f"{name}: feedback", total=len(students)), time.monotonic(), dict[str, str]()
    pages = {executor.submit(generate_feedback, course, name, student): student for student in students}
    for page in as_completed(pages):
        student = pages[page]
        try:
            page.result()
        except StepFailed as error:
            failed[student] = str(error)
        except Exception as error:  # one page must not stop the others
            failed[student] = f"{name}, {student}: {describe_error(error)}"
        file = "" if student in failed else f"feedback/{student}/{name}/{name}.html"
        done({"lesson": name, "student": student, "page": file, "why": failed.get(student, "")})
        progress.update(row, advance=1, description=f"{name}: {shortened(student)}")
    new = len(students) - len(failed)
    progress.update(row, description=f"{name}: {new} feedback{seconds_each(begun, new)}")
    return [failed[student] for student in sorted(failed)]
