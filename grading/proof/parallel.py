"""Parallel calls of a function in as many processes as there are cores."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import platform
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from threading import Thread
from typing import Any, TypeVar

import torch

from ..cpu_count import cpu_count

MEMORY = 6 << 30  # bytes of data per process: a mutant may allocate any amount
Done = TypeVar("Done")


def run_in_parallel(
    task: Callable[..., Done], wanted: Sequence[tuple[Any, ...]]
) -> Iterator[tuple[tuple[Any, ...], Done | Exception]]:
    """Run the calls in order; yield each one's arguments and result as it ends.

    task  a module-level function; its arguments, result and exception are pickled
    """
    workers = min(cpu_count(), len(wanted))
    if workers < 2:
        yield from ((one, _call(task, one)) for one in wanted)
        return
    context = multiprocessing.get_context("spawn")  # a fork of a process in which torch has threads may hang
    with ProcessPoolExecutor(workers, context, _set_up) as pool:
        try:
            waiting = {pool.submit(task, *one): one for one in wanted}
            for done in as_completed(waiting):
                yield waiting[done], _call(done.result, ())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)  # start no further call
            raise


def _call(task: Callable[..., Done], arguments: tuple[Any, ...]) -> Done | Exception:
    try:
        return task(*arguments)
    except Exception as error:
        return error


def _set_up() -> None:
    torch.set_num_threads(1)
    signal.signal(signal.SIGINT, lambda *_: os._exit(1))  # Ctrl-C reaches every process: only the parent reports it
    Thread(target=_end_with_parent, daemon=True).start()
    if platform.system() == "Linux":
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


def _end_with_parent() -> None:
    """End this process when its parent has ended, which cannot end the pool if killed."""
    parent = multiprocessing.parent_process()
    if parent:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(1)
