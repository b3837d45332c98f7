"""Detection of forbidden functions, however they are spelled.

Calls are recorded in two places. Calls from Python to torch are recorded with the function's name and with the names on
the call stack that belong to torch, such as `torch.distributions`, or to this package, such as
`course.models.right_functions`. Operators are recorded at the dispatcher, through torch's profiler, by name, whether
Python, TorchScript or another operator called them. Threads that start during a call are watched, too.

Does not cover: the source text (the judge reads it separately); other processes, and threads that were started before
the call; code that looks for the watcher and changes it; the dispatcher of a torch without this profiler.
"""

from __future__ import annotations

import _thread
import re
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache, partial
from types import CodeType, FrameType, FunctionType, TracebackType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode, resolve_name

from .errors import is_theirs

OPERATORS = "torch.ops."
METHODS = "_tensor"  # torch's module of tensor methods such as `__iter__`, which is not the function `torch.tensor`
PACKAGE = "course"  # as a pattern: what the package ships for unsolved exercises
HARNESS = f"{PACKAGE}.harness."
SHIPPING = (f"{PACKAGE}.models.", f"{PACKAGE}.sample_models.", f"{PACKAGE}.checkers.")
LENT = (f"{PACKAGE}.models.gpt.", f"{PACKAGE}.sample_models.")  # modules of the sample models
STARTS_THREADS = (
    (_thread, "start_new_thread"),
    (threading, "_start_new_thread"),
    (threading, "_start_joinable_thread"),
)
SPECIMEN = "specimen"  # the kind of a program's node that makes a sample model, and the runner's method for it
Codes = dict[int, CodeType]  # by their ids: a code object's own hash is slow, and the same for equal code
Read = tuple[CodeType, str, tuple[str, ...]]  # a function, its kind, and names
LIBRARY, MAKER, SHIPPED, LEARNERS = "library", "maker", "shipped", "learner's"  # kinds of functions on the stack
MOST_SHAPES = 8  # of a failed call that are kept
STOPPED = "stopping the watch for forbidden functions"


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
    """Record calls that match one of `patterns` in `used`, without stopping them.

    lends  whether the call is given sample models of the package, whose methods it may call
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        super().__init__()
        self.patterns = tuple(patterns)
        self.lends = False
        self._lent: Codes = {}
        self._frames = _frames.setdefault(self.patterns, {})
        self.used: list[str] = []
        self._names_torch = any(pattern != PACKAGE for pattern in self.patterns)
        self._base: FrameType | None = None
        self._outer: ForbiddenCallWatcher | None = None
        self._starting: list[tuple[Any, str, Any]] = []
        self._starts_watches = True
        self._noting = False
        self._failed: tuple[BaseException | None, dict[str, Any]] = (None, {})

    def __enter__(self) -> ForbiddenCallWatcher:
        self._base = sys._getframe(1)
        self._outer, _current.watch = getattr(_current, "watch", None), self
        if self._outer is None:
            _end_profiler()
        self._noting = self._names_torch and _note_operators()
        if self._starts_watches:
            self._watch_threads()
            _active.add(self)
        super().__enter__()  # type: ignore[no-untyped-call]  # torch has no types for it
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for module, name, original in self._starting:
            setattr(module, name, original)
        try:
            if kind is None and (torch.overrides._get_current_function_mode() is not self or self._was_stopped()):
                self._note(STOPPED)
            super().__exit__(kind, error, trace)  # type: ignore[no-untyped-call]  # as above
        finally:
            self._base, _current.watch = None, self._outer
            self._take_operators()
            _active.discard(self)

    def __torch_function__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        used = self._used_names(sys._getframe(1))
        if used is None:
            with self._paused():
                return func(*args, **(kwargs or {}))
        plain = getattr(func, "__name__", str(func))
        if self._names_torch and _matches(plain, self.patterns):
            self._note(resolve_name(func) or plain)
        for name in used:
            self._note(name)
        try:
            return func(*args, **(kwargs or {}))
        except Exception as error:
            named = re.fullmatch(r"\w{1,60}", plain, re.ASCII)
            self._failed = error, {"operation": plain, "shapes": _shapes([args, kwargs or {}])} if named else {}
            raise

    def failed_call(self, error: BaseException) -> dict[str, Any]:
        """The function of torch that raised this exception to the learner's code, and the shapes of its tensors."""
        known, call = self._failed
        return call if known is error else {}

    def lend(self, sample: Any) -> None:
        """Allow calls of this sample model, which the answer is given."""
        self.lends = True
        self._lent.update(_own_codes(sample))

    def _used_names(self, frame: FrameType | None) -> list[str] | None:
        """Forbidden names on the stack from a call of torch up to the learner's code.

        None if a trusted function or a sample model calls torch, rather than the learner's code.
        """
        used: list[str] = []
        entered: CodeType | None = None  # the package's function that the learner's code calls
        while frame is not None and frame is not self._base:
            code = frame.f_code
            if id(code) in _trusted:
                return None
            _, kind, names = self._frames.get(id(code)) or self._read(frame)
            if kind == SHIPPED:
                entered = code
            elif kind == LIBRARY and names and entered is None:
                used += names
            elif kind == MAKER:
                return None
            elif kind == LEARNERS:
                break
            frame = frame.f_back
        if entered is None:
            return used
        _, _, (name, method) = self._frames[id(entered)]
        if id(entered) in self._lent or (self.lends and method):
            return None
        return [*used, name] if PACKAGE in self.patterns else used

    def _read(self, frame: FrameType) -> Read:
        """The kind of a frame's function, and the names that matter for it.

        For a function of torch these are the forbidden ones; for one of this package, its name and whether it is a
        method of a sample model.
        """
        module, code = str(frame.f_globals.get("__name__", "")), frame.f_code
        name = code.co_qualname
        if module.startswith(f"{PACKAGE}.") and is_theirs(code.co_filename):
            return code, LEARNERS, ()  # a notebook may call itself what it likes
        if f"{module}.".startswith(SHIPPING):
            method = "." in name and not name.endswith(".__init__") and f"{module}.".startswith(LENT)
            read: Read = code, SHIPPED, (f"{module}.{name}", "method" if method else "")
        elif module.startswith(HARNESS):
            read = code, MAKER if code.co_name.strip("_") == SPECIMEN else LIBRARY, ()
        elif module.startswith("torch."):
            parts = [*module.split(".")[1:], *([] if "." in name else [name])]  # no method, no wrapper's inner function
            parts = [part for part in parts if part != METHODS]
            read = code, LIBRARY, tuple(part for part in parts if self._names_torch and _matches(part, self.patterns))
        else:
            return code, LEARNERS, ()  # not cached: a program may define any number of such functions
        self._frames[id(code)] = read
        return read

    def note_answer(self, value: Any) -> None:
        """Note an answer or its result if it is a function, class or object of the package."""
        made = value if isinstance(value, (FunctionType, type)) else type(value)
        if PACKAGE not in self.patterns or _own_codes(made).keys() & _trusted.keys():
            return
        for kind in made.__mro__ if isinstance(made, type) else (made,):
            if f"{kind.__module__}.".startswith(SHIPPING):
                self._note(f"{kind.__module__}.{kind.__qualname__}")

    @contextmanager
    def _paused(self) -> Iterator[None]:
        """Record no operators of this thread in this block."""
        self._take_operators()
        try:
            yield
        finally:
            self._noting = self._names_torch and _note_operators()

    def _watch_threads(self) -> None:
        """Watch every thread that starts from now on."""
        self._starting = [
            (module, name, getattr(module, name)) for module, name in STARTS_THREADS if hasattr(module, name)
        ]
        for module, name, original in self._starting:
            setattr(module, name, partial(self._start_thread, original))

    def _start_thread(
        self, original: Callable[..., Any], function: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> Any:
        beside = ForbiddenCallWatcher(self.patterns)
        beside.lends, beside.used, beside._starts_watches = self.lends, self.used, False
        beside._lent = self._lent

        def watched(*given: Any, **named: Any) -> Any:
            with beside:
                return function(*given, **named)

        return original(watched, *args, **kwargs)

    def _was_stopped(self) -> bool:
        return self._noting and not torch._C._autograd._profiler_enabled()

    def _take_operators(self) -> None:
        """Stop recording at the dispatcher and keep the names that match."""
        if not self._noting:
            return
        self._noting = False
        if not torch._C._autograd._profiler_enabled():
            return
        for name in {event.name() for thread in torch._C._autograd._disable_profiler_legacy() for event in thread}:
            space, _, plain = name.partition("::")
            if plain and space != "autograd" and _matches(plain, self.patterns):
                self._note(f"{OPERATORS}{space}.{plain}")

    def _note(self, name: str) -> None:
        known = {normal_name(used.rpartition(".")[2]) for used in self.used}
        if normal_name(name.rpartition(".")[2]) not in known:
            self.used.append(name)


def _shapes(value: Any) -> list[list[int]]:
    """The shapes of the tensors among a call's arguments, at most `MOST_SHAPES`."""
    if type(value) in (torch.Tensor, torch.nn.Parameter) and not value.is_nested:  # others may refuse, or lie
        return [list(value.shape)]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [shape for part in list(parts)[:MOST_SHAPES] for shape in _shapes(part)][:MOST_SHAPES]


_current = threading.local()  # .watch: the one that is active in this thread
_active = weakref.WeakSet[ForbiddenCallWatcher]()  # in all threads, but not those of threads that started in a call
_trusted: Codes = {}
_frames: dict[tuple[str, ...], dict[int, Read]] = {}  # what `_read` found, by patterns and by a code object's id


def is_watching() -> bool:
    """Whether a call is watched, in any thread."""
    return bool(_active)


@contextmanager
def trusting(right: Iterable[Any]) -> Iterator[None]:
    """Let only these functions and classes use forbidden functions in this block.

    Raises RuntimeError during a watched call: an answer cannot trust anything.
    """
    if getattr(_current, "watch", None):
        raise RuntimeError("the watch has begun")
    before = dict(_trusted)
    _trusted.clear()
    for value in right:
        _trusted.update(_own_codes(value))
    try:
        yield
    finally:
        _trusted.clear()
        _trusted.update(before)


def _own_codes(value: Any) -> Codes:
    """The code of a function, or of the methods that a class defines itself."""
    functions = vars(value).values() if isinstance(value, type) else [value]
    return {id(code): code for f in functions if isinstance(f, FunctionType) for code in _codes(f.__code__)}


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A code object and those of the functions in it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _codes(inner)


def _end_profiler() -> None:
    """End a profiler that runs in this thread: it would keep ours from noting operators."""
    with suppress(AttributeError, RuntimeError):  # private names, and kinds of profilers that end otherwise
        if torch._C._autograd._profiler_enabled():
            torch._C._autograd._disable_profiler_legacy()


def _note_operators() -> bool:
    """Record every operator of this thread; return whether this torch can do so."""
    try:
        profiler = torch._C._profiler
        how = profiler.ProfilerConfig(
            profiler.ProfilerState.CPU, False, False, False, False, False, profiler._ExperimentalConfig()
        )
        torch._C._autograd._enable_profiler_legacy(how)
    except (AttributeError, TypeError):  # all of these are private, and a learner's torch may be another version
        return False
    except RuntimeError:  # it is running already
        return False
    return True
