"""Who judges for the coordinator: threads of this process that each wait for a judge, or a cluster (`cluster`)."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Protocol

from grading.judge import client
from grading.judge.client import Job

from .submission import GradedNotebook, GradingTask, grade


class Workers(Protocol):
    """As `carry_out` uses them: `result` of what `submit` gave, as soon as that is done."""

    def room(self) -> int:
        """How many submissions are to be at work now; at least one."""

    def make_ready(self, work: Job) -> None:
        """Have what takes time begin, while the coordinator does other things."""

    def submit(self, task: GradingTask) -> Future[Any]:
        """Have a submission graded."""

    def result(self, future: Future[Any], task: GradingTask) -> GradedNotebook:
        """The graded submission.

        Raises SubmissionNotGraded; SandboxUnavailable and ClusterLost if nothing more can be graded.
        """


class Threads:
    """So many threads of this process."""

    def __init__(self, executor: Executor, number: int) -> None:
        self._executor, self._number = executor, number

    def room(self) -> int:
        """One more than there are, so that none waits while a grade is written."""
        return self._number + 1

    def make_ready(self, work: Job) -> None:
        client.make_ready(work)

    def submit(self, task: GradingTask) -> Future[Any]:
        return self._executor.submit(grade, task)

    def result(self, future: Future[Any], task: GradingTask) -> GradedNotebook:
        graded: GradedNotebook = future.result()
        return graded


@contextmanager
def threads(number: int) -> Iterator[Threads]:
    """So many workers of this process, as `pool`."""
    with pool(number) as executor:
        yield Threads(executor, number)


@contextmanager
def pool(number: int) -> Iterator[Executor]:
    """So many threads of this process. Left by an exception, they end at once, with their judges."""
    try:
        with ThreadPoolExecutor(number) as executor:
            try:
                yield executor
            except BaseException:
                executor.shutdown(wait=False, cancel_futures=True)
                client.stop()
                raise
    finally:
        client.resume()  # every thread has ended, so whoever asks for a judge now may have one
