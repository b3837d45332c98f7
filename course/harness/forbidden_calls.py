"""Which torch functions were called, whatever their spelling, and whether an exercise forbids them.

Watched in two places at once. Where Python calls a function of torch: by its name, and by those of torch's own modules
and functions from which it was called, as `torch.distributions`. And at the dispatcher, which every operator passes and
notes for torch's profiler: by the operator's name, whether it was called from Python, from TorchScript, or by an
operator of another name.

Does not cover: what the submitted source says before it runs (the judge reads it for itself); other threads and other
processes; code that takes the watch apart; the dispatcher of a torch without this profiler.
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
    """One spelling for a function's many: `F.log_softmax`, `nn.LogSoftmax`, `aten._log_softmax` -> `logsoftmax`."""
    name = re.sub(r"^(linalg|special|sparse)_", "", name.split(".")[0].strip("_").lower())
    return name.replace("_", "")


def is_forbidden(name: str, patterns: Iterable[str]) -> bool:
    """Whether `name`, in its normal spelling, matches one of the patterns (regular expressions) as a whole."""
    return _matches(name, tuple(patterns))


@lru_cache(maxsize=4096)
def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(re.fullmatch(pattern.replace("_", ""), normal_name(name)) for pattern in patterns)


def user_visible_names(used: Iterable[str]) -> list[str]:
    """Of what a watch noted, what the learner can have written: operators only where nothing but them was noted, since
    functions of torch call them under names that nobody knows."""
    noted = list(used)
    return [name for name in noted if not name.startswith(OPERATORS)] or noted


class ForbiddenCallWatcher(TorchFunctionMode):
    """Notes in `used` what is called under it and matches one of `patterns`; stops nothing."""

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
        super().__exit__(kind, error, trace)  # type: ignore[no-untyped-call]  # nor for this
        self.take_operators()
        _active.remove(self)

    def __torch_function__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        plain = getattr(func, "__name__", str(func))
        if _matches(plain, self.patterns):
            self._note(resolve_name(func) or plain)
        for name in _around(sys._getframe(1)):
            if _matches(name, self.patterns):
                self._note(name)
        return func(*args, **(kwargs or {}))

    def take_operators(self) -> None:
        """End the dispatcher's notes, and keep what matters of them."""
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
    """Have the dispatcher note every operator that this thread calls from here on; whether this torch can."""
    try:
        profiler = torch._C._profiler
        how = profiler.ProfilerConfig(
            profiler.ProfilerState.CPU, False, False, False, False, False, profiler._ExperimentalConfig()
        )
        torch._C._autograd._enable_profiler_legacy(how)
    except (AttributeError, TypeError):  # none of these is public: a learner's torch may be another than ours
        return False
    return True


@contextmanager
def unwatched() -> Iterator[None]:
    """What is called here no watch sees."""
    for watch in _active[-1:]:
        watch.take_operators()
    try:
        with torch._C.DisableTorchFunction():
            yield
    finally:
        for watch in _active[-1:]:
            watch.noting = _note_operators()


def _around(frame: FrameType | None) -> Iterator[str]:
    """Names of torch's own functions and modules between a call and the learner's code that it began in."""
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module == __name__:
            frame = frame.f_back
            continue
        if not module.startswith("torch."):
            return
        yield from module.split(".")[1:]
        if "." not in frame.f_code.co_qualname:  # neither a method nor a wrapper's `inner`
            yield frame.f_code.co_name
        frame = frame.f_back
