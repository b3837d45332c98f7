"""Grade on a running Dask cluster.

Only this module and `cluster_bundle` import `distributed`.

Each lesson bundle is a Dask task: Dask keeps its result on the workers, copies it between them, and computes it again
if it loses the worker. Each submission is a task that depends on the bundle. If Dask loses a worker, it gives the
worker's submissions to another one, as often as the scheduler allows (`distributed.scheduler.allowed-failures`). Dask's
own configuration (`distributed.comm.tls`) sets up encryption and certificates.

Dask unpickles what the scheduler and the workers send, so everyone who may join the cluster is trusted (docs/scale.md).
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

from grading.coordinator.submission import GradedNotebook, GradingTask, not_read
from grading.coordinator.validate_result import validate_remote
from grading.errors import ClusterLost, SubmissionNotGraded, Unreadable
from grading.judge.job import Job
from grading.judge.server import open_file, read_file
from grading.notebooks.submitted_file import open_error, resolve
from grading.safe_text import one_line

from . import cluster_bundle

CLOSING = 5.0  # seconds to disconnect from a scheduler that may be gone
LOG = logging.getLogger(__name__)
Value = TypeVar("Value")


@contextmanager
def cluster(address: str) -> Iterator[Cluster]:
    """Connect to the scheduler at this address.

    An exception in the block cancels all tasks that have not begun. Raises ClusterLost if no scheduler answers.
    """
    for name in ("distributed", "distributed.client"):  # ClusterLost reports a lost connection in one sentence
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        get_address_host_port(address, strict=True)  # otherwise a client raises again when it closes
        client = Client(address, set_as_default=False, name="grading")
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        raise ClusterLost(f"no Dask scheduler answers at {address}: {_one_line(error)}") from error
    if not is_private(address):
        LOG.warning(
            "The connection to %s is not encrypted: anyone who can reach the scheduler can run programs "
            "on its workers and decide on grades. docs/scale.md explains how to make certificates.",
            address,
        )
    try:
        yield Cluster(client, address)
    finally:
        with suppress(Exception):  # it may be gone already
            client.close(timeout=CLOSING)


class Cluster:
    """The workers of a Dask cluster; implements `executors.Workers`."""

    def __init__(self, client: Client, address: str) -> None:
        self._client, self._address = client, address
        self._executor = client.get_executor(pure=False)
        self._bundles: dict[tuple[str, ...], Any] = {}  # one at most
        self._threads: dict[str, int] = {}  # by worker, as last counted

    def room(self) -> int:
        """The number of threads plus one per worker.

        The extra task keeps a worker busy while a grade is written.
        """
        if self._client.status == "closed":  # Dask has given up reconnecting
            raise self._lost("its scheduler was lost")
        with suppress(OSError):  # ask a busy scheduler again later; a lost one cancels its tasks
            self._threads = self._client.nthreads()
        if not self._threads:
            LOG.warning("No worker has joined the cluster at %s yet: grading waits for one.", self._address)
        return max(1, sum(self._threads.values()) + len(self._threads))

    def make_ready(self, job: Job[Any]) -> None:
        """Do nothing: workers prepare when their first submission arrives."""

    def submit(self, task: GradingTask) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            file = resolve(task.file, task.max_bytes)
            sent = cluster_bundle.RemoteSubmission(
                task.student, file.name, _read(file, task.max_bytes), task.job.request.lesson.mistaken
            )
            future = self._ask_cluster(
                lambda: self._executor.submit(cluster_bundle.grade_sent, self._bundle(task), sent)
            )
        except Unreadable as error:  # a person has to look at it, as with local threads
            future.set_result(not_read(task, str(error)))
        return future

    def result(self, future: Future[Any], task: GradingTask) -> GradedNotebook:
        try:
            got = future.result()
        except KilledWorker as error:
            times, last = error.allowed_failures + 1, error.last_worker.address
            raise SubmissionNotGraded(f"its worker was lost {times} times; the last one was {last}") from None
        except CancelledError:
            raise self._lost("its scheduler was lost, or dropped the task") from None
        except (ImportError, AttributeError) as error:
            ours = cluster_bundle.versions()["attention-course-teach"]
            raise self._lost(
                f"a worker could not read the bundle ({error}). Install the wheels of version {ours} there, the "
                "teacher's with [cluster]"
            ) from error
        except Exception as error:  # a Dask error in this task alone
            raise SubmissionNotGraded(f"the cluster failed: {_one_line(error)}") from error
        if isinstance(got, cluster_bundle.NoGrade):
            why = _one_line(got.why)
            raise self._lost(f"the worker {_one_line(got.worker)} {why}") if got.worker else SubmissionNotGraded(why)
        return validate_remote(got, task)

    def _bundle(self, task: GradingTask) -> Any:
        """The lesson bundle on the workers; sent again if one of its files has changed."""
        key = (task.job.request.lesson.name, task.made_of["graders"], task.made_of["release"])
        if key not in self._bundles:
            self._bundles = {key: self._client.submit(_identity, cluster_bundle.pack(task), pure=False)}
        return self._bundles[key]

    def _ask_cluster(self, act: Callable[[], Value]) -> Value:
        try:
            return act()
        except (OSError, RuntimeError) as error:
            raise self._lost(_one_line(error)) from error

    def _lost(self, why: str) -> ClusterLost:
        return ClusterLost(f"the cluster at {self._address} cannot continue: {why}")


def _identity(packed: cluster_bundle.LessonBundle) -> cluster_bundle.LessonBundle:
    return packed


def _read(file: Path, max_bytes: int) -> bytes:
    """Read a submitted file as a judge would, without parsing it. Raises Unreadable."""
    try:
        folder = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise open_error(error) from error
    try:
        return read_file(open_file(folder, file.name), max_bytes)
    finally:
        os.close(folder)


def is_private(address: str) -> bool:
    """Whether traffic to this address is encrypted or stays on this machine."""
    parts = urlsplit(address)
    if parts.scheme in ("tls", "wss", "inproc"):
        return True
    try:
        return parts.hostname == "localhost" or ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return False


def _one_line(message: str | BaseException) -> str:
    return one_line(" ".join(str(message).split())) or type(message).__name__
