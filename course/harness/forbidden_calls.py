"""Detection of forbidden torch functions, however they are spelled.

Calls are recorded at two places. Calls from Python to torch: by the function's name, and by the names of torch's own
modules and functions on the call stack, such as `torch.distributions`. Operators at the dispatcher, through torch's
profiler: by the operator's name, whether the call came from Python, from TorchScript or from another operator.

Does not cover: what the source says before it runs (the judge reads it separately); other threads and processes; code
that disables the watcher; the dispatcher of a torch without this profiler.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from types import FrameType, TracebackType

import torch
from torch.overrides import TorchFunctionMode, resolve_name

OPERATORS = "torch.ops."


def normal_name(name: str) -> str:
    """Normalize a name: `F.log_softmax`, `aten._log_softmax` -> `logsoftmax`."""
    name = re.sub(r"^(linalg|special|sparse)_", "", name.split(".")[0].strip("_").lower())
    return name.replace("_", "")


def is_forbidden(name: str, patterns: Iterable[str]) -> bool:
    """Whether the normalized name fully matches one of these regular expressions."""
    return _matches(name, tuple(patterns))


@lru_cache(maxsize=4096)
def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(re.fullmatch(pattern.replace("_", ""), normal_name(name)) for pattern in patterns)


def user_visible_names(used: Iterable[str]) -> list[str]:
    """Names that the learner may have written: operators only if there are no others.

    torch's functions call operators under names that users do not know.
    """
    names = list(used)
    return [name for name in names if not name.startswith(OPERATORS)] or names


class ForbiddenCallWatcher(TorchFunctionMode):
    """Record calls that match one of `patterns` in `used`, without stopping them."""

    def __init__(self, patterns: list[str]) -> None:
        super().__init__()
        self.patterns = tuple(patterns)
        self.used: list[str] = []
        self.noting = False

    def __enter__(self) -> ForbiddenCallWatcher:
        _active.append(self)
        self.noting = _note_operators()
        super().__enter__()  # type: ignore[no-untyped-call]  # torch has no types for it
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)  # type: ignore[no-untyped-call]  # as above
        self.take_operators()
        _active.remove(self)

    def __torch_function__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        plain = getattr(func, "__name__", str(func))
        if _matches(plain, self.patterns):
            self._note(resolve_name(func) or plain)
        for name in _torch_callers(sys._getframe(1)):
            if _matches(name, self.patterns):
                self._note(name)
        return func(*args, **(kwargs or {}))

    def take_operators(self) -> None:
        """Stop recording at the dispatcher and keep the names that match."""
        if not self.noting:
            return
        self.noting = False
        for name in {event.name() for thread in torch._C._autograd._disable_profiler_legacy() for event in thread}:
            space, _, plain = name.partition("::")
            if plain and space != "autograd" and _matches(plain, self.patterns):
                self._note(f"{OPERATORS}{space}.{plain}")

    def _note(self, name: str) -> None:
        known = {normal_name(used.rpartition(".")[2]) for used in self.used}
        if normal_name(name.rpartition(".")[2]) not in known:
            self.used.append(name)


_active: list[ForbiddenCallWatcher] = []


def _note_operators() -> bool:
    """Record every operator of this thread from now on; whether this torch can do so."""
    try:
        profiler = torch._C._profiler
        how = profiler.ProfilerConfig(
            profiler.ProfilerState.CPU, False, False, False, False, False, profiler._ExperimentalConfig()
        )
        torch._C._autograd._enable_profiler_legacy(how)
    except (AttributeError, TypeError):  # all of these are private, and a learner's torch may be another version
        return False
    return True


@contextmanager
def unwatched() -> Iterator[None]:
    """Record no calls in this block."""
    for watch in _active[-1:]:
        watch.take_operators()
    try:
        with torch._C.DisableTorchFunction():
            yield
    finally:
        for watch in _active[-1:]:
            watch.noting = _note_operators()


def _torch_callers(frame: FrameType | None) -> Iterator[str]:
    """Yield torch's own functions and modules on the stack, up to the learner's code."""
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module == __name__:
            frame = frame.f_back
            continue
        if not module.startswith("torch."):
            return
        yield from module.split(".")[1:]
        if "." not in frame.f_code.co_qualname:  # not a method, not a wrapper's inner function
            yield frame.f_code.co_name
        frame = frame.f_back
