"""Calls that may not end are ended: by their use of the processor, by the clock, or by a person's interrupt.

Where a kernel has Unix signals, and in the main thread, a timer's signal looks at the clock. Elsewhere (Windows, other
threads) a second thread does, and has Python raise the exception in the first.

Does not cover: one operation in C that never comes back, which Python cannot leave; a call that waits for something,
where there are no signals: it is ended as it wakes.
"""

from __future__ import annotations

import ctypes
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import torch

from .errors import is_theirs

CALL = 10.0  # seconds of the processor's time for one call; a right answer takes milliseconds, training a second
WALL_CLOCK_FACTOR = 12  # times its seconds may pass by the clock, for a call that waits, or a machine that is busy
POLL_SECONDS = 0.1  # seconds between two looks at the clock
RERAISE_SECONDS = 0.003  # the same, once the time is over: an answer may catch everything that is raised in it
RUNNER = Path(__file__).parent


class CallTimeout(BaseException):
    """A call had used up its time. No Exception, so that a learner's `except Exception` does not hold it."""


class _Clock:
    """How long a call has been running. It is over by the processor's time only if as much has passed by the clock:
    where torch has many threads, their times add up."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.open = seconds, True
        self.renew()

    def renew(self) -> None:
        self.computed, self.began = time.process_time(), time.monotonic()

    def over(self) -> str:
        """Why the time is over, in words; empty while it is not."""
        passed = time.monotonic() - self.began
        if min(time.process_time() - self.computed, passed) >= self.seconds:
            return f"it had not ended after {self.seconds:g} seconds of computing"
        if passed >= WALL_CLOCK_FACTOR * self.seconds:
            return f"it had not ended after {WALL_CLOCK_FACTOR * self.seconds:g} seconds"
        return ""


_running: list[_Clock] = []


def renew() -> None:
    """Give every call that is running its whole time again: it has shown that it goes on."""
    for clock in _running:
        clock.renew()


@contextmanager
def limit(seconds: float) -> Iterator[None]:
    """Raise CallTimeout in the block once its time is over, again and again if the block catches it.

    seconds  of processor time; by the clock `WALL_CLOCK_FACTOR` times as many

    Whether gradients are recorded is then as it was before.
    """
    clock, gradients = _Clock(seconds), torch.is_grad_enabled()
    by_signal = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    _running.append(clock)
    try:
        with _signals(clock) if by_signal else _thread(clock):
            try:
                yield
            finally:
                clock.open = False
    except (CallTimeout, KeyboardInterrupt):
        torch.set_grad_enabled(gradients)  # an optimizer's step, say, may have been about to switch them on again
        raise
    finally:
        _running.remove(clock)


@contextmanager
def _signals(clock: _Clock) -> Iterator[None]:
    def look(_: int, frame: FrameType | None) -> None:
        if clock.open and (why := clock.over()):
            signal.setitimer(signal.ITIMER_REAL, RERAISE_SECONDS, RERAISE_SECONDS)
            if _in_a_call(frame):
                raise CallTimeout(why)

    before = signal.signal(signal.SIGALRM, look)
    left, interval = signal.setitimer(signal.ITIMER_REAL, POLL_SECONDS, POLL_SECONDS)
    began = time.monotonic()
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before or signal.SIG_DFL)
        if left:  # somebody's own alarm, which goes off when it would have
            signal.setitimer(signal.ITIMER_REAL, max(left - time.monotonic() + began, 1e-3), interval)


@contextmanager
def _thread(clock: _Clock) -> Iterator[None]:
    caller, raising = threading.get_ident(), threading.Lock()
    ended, raised = threading.Event(), threading.Event()

    def watch() -> None:
        while not ended.wait(RERAISE_SECONDS if clock.over() else POLL_SECONDS):
            with raising:
                if clock.open and clock.over() and _in_a_call(sys._current_frames().get(caller)):
                    raised.set()
                    _raise_in(caller, CallTimeout)

    watching = threading.Thread(target=watch, name="limit of a call", daemon=True)
    watching.start()
    try:
        yield
    except CallTimeout as error:  # made without words
        raise error if error.args else CallTimeout(clock.over()).with_traceback(error.__traceback__) from None
    finally:
        ended.set()
        with raising:
            if raised.is_set():
                _drain_pending_exception(caller)
        watching.join()


def _raise_in(thread: int, kind: type[BaseException]) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(kind))


def _drain_pending_exception(this_thread: int) -> None:
    """Have it raised here and now. To unset it, as Python's function can, too, leaves Python 3.11 in the belief that
    something is to come, and where lines are traced, as by coverage or a debugger, waiting for it for ever."""
    try:
        _raise_in(this_thread, CallTimeout)
        while True:
            pass
    except CallTimeout:
        pass


def _in_a_call(frame: FrameType | None) -> bool:
    """Whether the learner's code runs, by itself or inside a library; and not ours around it, which leaves torch and
    the notebook as they were and must come to its end."""
    while frame is not None:
        ours = Path(frame.f_code.co_filename).parent == RUNNER or frame.f_globals.get("__name__") == __name__
        if ours and frame.f_code.co_name != "__torch_function__":  # called for the learner's every call of torch
            return False
        if not ours and is_theirs(frame.f_code.co_filename):
            return True
        frame = frame.f_back
    return False
