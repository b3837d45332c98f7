"""Time limits for calls: processor time, wall-clock time, or a person's interrupt.

With Unix signals, in the main thread, a timer checks the time. Elsewhere (Windows, other threads) a second thread does,
and has Python raise the exception in the first.

Does not cover: an operation in C that never returns, which Python cannot interrupt; without signals, a call that waits:
it ends when it wakes.
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

CALL = 10.0  # seconds of processor time per call; a correct answer takes milliseconds, training a second
WALL_CLOCK_FACTOR = 12  # wall-clock seconds per second of the limit, for calls that wait and busy machines
POLL_SECONDS = 0.1  # seconds between two checks of the time
RERAISE_SECONDS = 0.003  # the same after the limit: an answer may catch every exception
RUNNER = Path(__file__).parent


class CallTimeout(BaseException):
    """A call reached its time limit. `except Exception` does not catch it."""


class _Clock:
    """The time of a running call."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.open = seconds, True
        self.renew()

    def renew(self) -> None:
        self.computed, self.began = time.process_time(), time.monotonic()

    def over(self) -> str:
        """The reason that time is up, in words; empty while it is not."""
        passed = time.monotonic() - self.began  # required, too: processor time adds up torch's threads
        if min(time.process_time() - self.computed, passed) >= self.seconds:
            return f"it had not ended after {self.seconds:g} seconds of computing"
        if passed >= WALL_CLOCK_FACTOR * self.seconds:
            return f"it had not ended after {WALL_CLOCK_FACTOR * self.seconds:g} seconds"
        return ""


_running: list[_Clock] = []


def renew() -> None:
    """Restart the time of every running call: it has shown progress."""
    for clock in _running:
        clock.renew()


@contextmanager
def limit(seconds: float) -> Iterator[None]:
    """Raise CallTimeout in the block when time is up, again if the block catches it.

    seconds  of processor time; `WALL_CLOCK_FACTOR` times as many of wall-clock time

    Restores whether gradients are recorded.
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
        torch.set_grad_enabled(gradients)  # an interrupted optimizer step may have left them off
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
        if left:  # a previous alarm, which still goes off at its own time
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
    except CallTimeout as error:  # raised without a message
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
    """Raise the pending async exception now and swallow it.

    Unsetting it instead, which the C function can do, makes Python 3.11 believe that one is pending: with line tracing
    (coverage, a debugger) it then waits forever.
    """
    try:
        _raise_in(this_thread, CallTimeout)
        while True:
            pass
    except CallTimeout:
        pass


def _in_a_call(frame: FrameType | None) -> bool:
    """Whether the learner's code is running, directly or in a library.

    False in our code around it, which restores torch and the notebook and must finish.
    """
    while frame is not None:
        ours = Path(frame.f_code.co_filename).parent == RUNNER or frame.f_globals.get("__name__") == __name__
        if ours and frame.f_code.co_name != "__torch_function__":  # runs at every torch call of the learner's
            return False
        if not ours and is_theirs(frame.f_code.co_filename):
            return True
        frame = frame.f_back
    return False
