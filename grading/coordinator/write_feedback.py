"""Write the feedback pages of a class in parallel.

Reports a page that fails and goes on with the others.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Iterable
from concurrent.futures import Executor, as_completed
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from ..class_report.short_names import shortened
from ..course_dir.lessons import list_lessons
from ..cpu_count import cpu_count
from ..errors import StepFailed
from ..stopped import tell_if_stopped
from .executors import pool
from .nbgrader_api import feedback, handed_in, is_registered
from .progress import describe_error, progress_bars, seconds_each, show_failures


def write_feedback(
    root: Path,
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
        for name in list_lessons(root, names, ordinary=True):
            chosen = [who for who in handed_in(root, name, "autograded") if students is None or who in students]
            if chosen and not is_registered(root, name):
                failed += [f"{name} is not released yet, so it has no feedback: run `grading release`"]
            else:
                failed += _write_pages(root, name, chosen, executor, progress, done)
    show_failures(failed, console)
    return len(failed)


def _write_pages(
    root: Path,
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
    pages = {executor.submit(feedback, root, name, student): student for student in students}
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
