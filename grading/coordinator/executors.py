"""Workers of the coordinator: threads that wait for judges, or a `cluster`."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

from grading.judge import start_judge
from grading.judge.job import Job

from ..plugin import find_function
from .submission import GradedNotebook, GradingTask, grade


class Workers(Protocol):
    """Workers as `schedule.grade_each` uses them: `submit` tasks, then get each `result`."""

    def room(self) -> int:
        """The number of submissions to have in progress now; at least one."""

    def make_ready(self, job: Job[Any]) -> None:
        """Start slow preparations in the background."""

    def submit(self, task: GradingTask) -> Future[Any]:
        """Start grading a submission."""

    def result(self, future: Future[Any], task: GradingTask) -> GradedNotebook:
        """Return the graded submission once its future is done.

        Raises SubmissionNotGraded. Raises SandboxUnavailable or ClusterLost if nothing more can be graded.
        """


class Threads:
    """A fixed number of threads in this process."""

    def __init__(self, executor: Executor, number: int) -> None:
        self._executor, self._number = executor, number

    def room(self) -> int:
        """The number of threads plus one, so that none waits while a grade is written."""
        return self._number + 1

    def make_ready(self, job: Job[Any]) -> None:
        start_judge.make_ready(job)

    def submit(self, task: GradingTask) -> Future[Any]:
        return self._executor.submit(grade, task)

    def result(self, future: Future[Any], task: GradingTask) -> GradedNotebook:
        graded: GradedNotebook = future.result()
        return graded


@contextmanager
def threads(number: int) -> Iterator[Threads]:
    """Run this many worker threads, which end as in `pool`."""
    with pool(number) as executor:
        yield Threads(executor, number)


def workers_at(address: str) -> AbstractContextManager[Workers]:
    """Workers of the cluster at this address, which a plug-in opens. Raises MissingExtra."""
    workers: AbstractContextManager[Workers] = find_function("workers")(address)
    return workers


@contextmanager
def pool(number: int) -> Iterator[Executor]:
    """Run this many threads; an exception ends them and their judges at once."""
    try:
        with ThreadPoolExecutor(number) as executor:
            try:
                yield executor
            except BaseException:
                executor.shutdown(wait=False, cancel_futures=True)
                start_judge.stop()
                raise
    finally:
        start_judge.resume()  # all threads have ended, so new judges may start
