"""One task after another, side by side in as many processes as there are cores."""

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

MEMORY = 6 << 30  # bytes of a process's own data: a mutant may ask for any amount
Done = TypeVar("Done")


def side_by_side(
    task: Callable[..., Done], wanted: Sequence[tuple[Any, ...]]
) -> Iterator[tuple[tuple[Any, ...], Done | Exception]]:
    """The arguments of each call and what it gave or raised, in the order in which they end; begun in their own order.

    task  a function of a module: what goes in and comes out is pickled
    """
    workers = min(cpu_count(), len(wanted))
    if workers < 2:
        yield from ((one, _called(task, one)) for one in wanted)
        return
    context = multiprocessing.get_context("spawn")  # a fork of a process in which torch has threads may hang
    with ProcessPoolExecutor(workers, context, _set_up) as pool:
        try:
            waiting = {pool.submit(task, *one): one for one in wanted}
            for done in as_completed(waiting):
                yield waiting[done], _called(done.result, ())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)  # what was not begun is not begun any more
            raise


def _called(task: Callable[..., Done], arguments: tuple[Any, ...]) -> Done | Exception:
    try:
        return task(*arguments)
    except Exception as error:
        return error


def _set_up() -> None:
    torch.set_num_threads(1)
    signal.signal(signal.SIGINT, lambda *_: os._exit(1))  # Ctrl-C reaches every process: only the parent speaks of it
    Thread(target=_end_with_parent, daemon=True).start()
    if platform.system() == "Linux":
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


def _end_with_parent() -> None:
    """End this process when the parent has ended; killed, it cannot end the pool itself."""
    parent = multiprocessing.parent_process()
    if parent:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(1)
