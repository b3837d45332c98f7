"""A running Dask cluster as workers: `distributed` is imported here, and where a worker asks about itself (`kit`).

A lesson's kit is a task of its own, whose result Dask keeps at the workers, fetches from one for another, and makes
again where the worker that had it is lost. A submission is a task that takes it. What a lost worker had in the middle
another one gets, as often as the scheduler allows (`distributed.scheduler.allowed-failures`). Encryption and
certificates are those of Dask's own configuration (`distributed.comm.tls`).

Dask unpickles what scheduler and workers send, so whoever may join the cluster is trusted (docs/scale.md).
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from distributed import Client
from distributed.comm.addressing import get_address_host_port
from distributed.scheduler import KilledWorker

from grading.errors import ClusterLost, SubmissionNotGraded, Unreadable
from grading.judge.client import Job
from grading.judge.server import open_file, read_file
from grading.notebooks.submitted_file import one_line, open_error, resolve

from . import cluster_bundle
from .submission import GradedNotebook, GradingTask, not_read
from .validate_result import validate_remote

CLOSING = 5.0  # seconds to take leave of a scheduler that may not be there
LOG = logging.getLogger(__name__)
Value = TypeVar("Value")


@contextmanager
def cluster(address: str) -> Iterator[Cluster]:
    """The cluster whose scheduler is at this address. Left by an exception, what it has not begun it forgets.

    Raises ClusterLost where there is none.
    """
    for name in ("distributed", "distributed.client"):  # what they say of lost connections is told in a sentence
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        get_address_host_port(address, strict=True)  # a client that was given no address says so at its end, too
        client = Client(address, set_as_default=False, name="grading")
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        raise ClusterLost(f"there is no scheduler that answers at {address}: {_in_a_line(error)}") from error
    if not is_private(address):
        LOG.warning(
            "The connection to %s is not encrypted: whoever can reach the scheduler can run programs on its workers "
            "and decide on grades. docs/scale.md tells how certificates are made.",
            address,
        )
    try:
        yield Cluster(client, address)
    finally:
        with suppress(Exception):  # it may be gone already
            client.close(timeout=CLOSING)


class Cluster:
    """Workers wherever they are (`workers.Workers`)."""

    def __init__(self, client: Client, address: str) -> None:
        self._client, self._address = client, address
        self._executor = client.get_executor(pure=False)
        self._kits: dict[tuple[str, ...], Any] = {}  # one at most
        self._threads: dict[str, int] = {}  # by worker, when they were last counted

    def room(self) -> int:
        """As many as there are threads, and one more for each worker, so that none waits while a grade is written."""
        if self._client.status == "closed":  # it tried to connect again for as long as Dask is told to
            raise self._lost("its scheduler was lost")
        with suppress(OSError):  # one that is busy is asked again; one that is lost gives up what it was asked
            self._threads = self._client.nthreads()
        if not self._threads:
            LOG.warning("No worker has joined the cluster at %s: grading waits for one.", self._address)
        return max(1, sum(self._threads.values()) + len(self._threads))

    def make_ready(self, work: Job) -> None:
        """Workers begin with their first submission."""

    def submit(self, task: GradingTask) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            file = resolve(task.file, task.max_bytes)
            sent = cluster_bundle.RemoteSubmission(
                task.student, file.name, _read(file, task.max_bytes), tuple(task.work.about["mistaken"])
            )
            future = self._asked(lambda: self._executor.submit(cluster_bundle.grade_sent, self._kit(task), sent))
        except Unreadable as error:  # as everywhere, a person is to look at it
            future.set_result(not_read(task, str(error)))
        return future

    def result(self, future: Future[Any], task: GradingTask) -> GradedNotebook:
        try:
            got = future.result()
        except KilledWorker as error:
            times, last = error.allowed_failures + 1, error.last_worker.address
            raise SubmissionNotGraded(
                f"the worker that had it was lost, {times} times in all; the last was {last}"
            ) from None
        except CancelledError:
            raise self._lost("its scheduler was lost, or gave up what it was asked") from None
        except (ImportError, AttributeError) as error:
            wanted = f"attention-course-teach[cluster]=={cluster_bundle.versions()['attention-course-teach']}"
            raise self._lost(f"a worker could not read what it was sent ({error}); install {wanted} there") from error
        except Exception as error:  # Dask's own, of this task alone
            raise SubmissionNotGraded(f"the cluster could not do it: {_in_a_line(error)}") from error
        if isinstance(got, cluster_bundle.NoGrade):
            why = _in_a_line(got.why)
            raise self._lost(f"the worker {_in_a_line(got.worker)} {why}") if got.worker else SubmissionNotGraded(why)
        return validate_remote(got, task)

    def _kit(self, task: GradingTask) -> Any:
        """The kit of this task at the workers: another one where a file in it has changed."""
        key = (task.work.request["lesson"], task.made_of["graders"], task.made_of["release"])
        if key not in self._kits:
            self._kits = {key: self._client.submit(_itself, cluster_bundle.pack(task), pure=False)}
        return self._kits[key]

    def _asked(self, act: Callable[[], Value]) -> Value:
        try:
            return act()
        except (OSError, RuntimeError) as error:
            raise self._lost(_in_a_line(error)) from error

    def _lost(self, why: str) -> ClusterLost:
        return ClusterLost(f"the cluster at {self._address} does not go on: {why}")


def _itself(packed: cluster_bundle.LessonBundle) -> cluster_bundle.LessonBundle:
    return packed


def _read(file: Path, max_bytes: int) -> bytes:
    """What is in a submitted file, which is not looked at, as a judge would read it. Raises Unreadable."""
    try:
        folder = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise open_error(error) from error
    try:
        return read_file(open_file(folder, file.name), max_bytes)
    finally:
        os.close(folder)


def is_private(address: str) -> bool:
    """Whether nobody reads what goes there: it is encrypted, or does not leave this machine."""
    parts = urlsplit(address)
    if parts.scheme in ("tls", "wss", "inproc"):
        return True
    try:
        return parts.hostname == "localhost" or ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return False


def _in_a_line(said: str | BaseException) -> str:
    return one_line(" ".join(str(said).split())) or type(said).__name__
