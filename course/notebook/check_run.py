"""The calls of one check, with time limits, an explained error, and what they print.

After a call that hung, or that the learner interrupted, no other runs: one interrupt ends a check. A function that hung
is not called again until it is checked again.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..check_data import Case, CaseResults, case_of
from ..harness import time_limits
from ..harness.errors import not_written
from ..harness.program import Observation, Program
from ..harness.runner import CallHooks, observe
from ..report import CodeNote
from .follow_through import replaced
from .raised_lines import describe_raise

if TYPE_CHECKING:
    from .session import Session

KEPT = 100_000  # characters kept per call
LINES, WIDTH = 8, 160  # lines, and characters of a line, per call in a report
CALLS = 3  # in a report


class CappedStream(io.TextIOBase):
    """A stream that keeps up to `KEPT` characters."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.size = 0

    def write(self, text: str) -> int:
        if self.size < KEPT:
            self.parts.append(text[: KEPT - self.size])
        self.size += len(text)
        return len(text)

    @property
    def text(self) -> str:
        more = f"\n… and {self.size - KEPT} characters more, which were not kept" if self.size > KEPT else ""
        return "".join(self.parts) + more


@dataclass
class CapturedOutput:
    """The output of one check: each call with its text."""

    calls: list[tuple[str, str]] = field(default_factory=list)

    def add(self, call: str, text: str) -> None:
        if text.strip():
            self.calls.append((call, text))

    def of(self, call: str) -> str:
        """The output of one call, shortened; "" if it printed nothing."""
        return next((_cut(text) for known, text in self.calls if known == call), "")

    def in_one_line(self, exercise: str) -> str:
        """How much was printed and what shows it, for a report of one line; "" for nothing."""
        lines = sum(len(text.rstrip("\n").split("\n")) for _, text in self.calls)
        return f"It printed {lines} line{'' if lines == 1 else 's'}: `course.printed({exercise})`." if lines else ""

    def as_notes(self, exercise: str, besides: str = "") -> list[CodeNote]:
        """Notes for a report on the output of the first calls. besides: a call whose output it shows already."""
        others = [(call, text) for call, text in self.calls if call != besides]
        notes = [CodeNote(_title(call), _cut(text)) for call, text in others[:CALLS]]
        if len(others) > CALLS or any(_cut(text) != text.rstrip("\n") for _, text in self.calls):
            count = f"{len(self.calls)} call{'' if len(self.calls) == 1 else 's'}"
            notes.append(CodeNote(f"All that was printed ({count}):", f"course.printed({exercise})"))
        return notes

    def __str__(self) -> str:
        return "\n".join(f"--- {call}\n{text.rstrip()}" for call, text in self.calls)


def _title(call: str) -> str:
    text = " ".join(call.split())
    return f"Printed by `{text if len(text) <= WIDTH else f'{text[:WIDTH]} …'}`:"


def _cut(text: str) -> str:
    lines = text.rstrip("\n").split("\n")
    shown = [line if len(line) <= WIDTH else f"{line[:WIDTH]} …" for line in lines[:LINES]]
    return "\n".join(shown if len(lines) <= LINES else [*shown, f"… {len(lines) - LINES} more lines"])


INTERRUPTED = "it had not ended when it was interrupted"
NOT_TRIED = "not tried, since a call before it never ended"


class HungFunctions:
    """Functions that hung, by exercise."""

    def __init__(self) -> None:
        self.known: dict[str, Any] = {}

    def __contains__(self, f: Any) -> bool:
        return any(hung is f for hung in self.known.values())

    @contextmanager
    def left_out(self, names: dict[str, Any], checked: str) -> Iterator[None]:
        """Replace these functions in `names`, so that a call raises instead of hanging."""
        put = {name for name, f in self.known.items() if name != checked and names.get(name) is f}
        with replaced(names, {name: _hung_stand_in(name) for name in put}):
            yield


def _hung_stand_in(name: str) -> Any:
    def stand_in(*_: Any, **__: Any) -> Any:
        raise time_limits.CallTimeout(f"it calls `{name}`, which never ended")

    return stand_in


class CheckRun:
    """The calls of one check, and what they leave besides observations.

    errors   for each call, the learner's lines that raised an exception; "": none did
    stopped  a sentence on the call that hung, `stopped_case`; empty: none
    """

    def __init__(self) -> None:
        self.prints = CapturedOutput()
        self.errors: list[str] = []
        self.stopped = ""
        self.stopped_case = -1

    @property
    def interrupted(self) -> bool:
        """Whether the learner ended it."""
        return INTERRUPTED.removeprefix("it ") in self.stopped

    def run_case(self, case: Case, names: Mapping[str, Any]) -> Observation:
        """Run a case and return its observation."""
        return self.run(case.program, names, case.text, must_raise=case.reference.exact.raised is not None)

    def run(self, program: Program, names: Mapping[str, Any], call: str, must_raise: bool = False) -> Observation:
        """Run a program, whose text is `call`; `must_raise`: an exception is correct."""
        self.errors.append("")
        if self.stopped:
            return Observation(raised={"type": "NotTried", "bases": [], "message": NOT_TRIED, "line": ""})
        witness = CallHooks(kept := CappedStream(), time_limits.limit(time_limits.CALL))
        seen = observe(program, names, witness)
        self.prints.add(call, kept.text)
        if seen.raised is None:
            return seen
        if seen.raised["type"] == "KeyboardInterrupt":
            seen.raised |= {"type": "CallTimeout", "message": INTERRUPTED}
        if seen.raised["type"] == "CallTimeout":
            line = f", at the line `{seen.raised['line']}`" if seen.raised["line"] else ""
            self.stopped = f"Your code {seen.raised['message'].removeprefix('it ')}{line}."
            self.stopped_case = len(self.errors) - 1
        elif witness.error and not (must_raise or not_written(seen.raised)):
            self.errors[-1] = describe_raise(witness.error)
        return seen


@contextmanager
def calls_of(session: Session, f: Any, name: str) -> Iterator[CheckRun]:
    """The run of an answer's calls; an answer that hangs is recorded."""
    run = CheckRun()
    session.hung.known.pop(name, None)
    with session.hung.left_out(session.names, name):
        yield run
    if run.stopped:
        session.hung.known[name] = f


def passes_examples(session: Session, f: Any, name: str) -> bool:
    """Whether `f` passes the visible examples of the exercise `name`, which takes milliseconds."""
    with calls_of(session, f, name) as run:
        results = CaseResults(run.run_case)
        cases = [case_of(record) for record in session.exercise_data(name)["cases"]]
        results.run_cases(cases, {**namespace(session, f), name: f})
    return results.right


def namespace(session: Session, f: Any) -> dict[str, Any]:
    """The names that the learner's function uses."""
    return session.names or getattr(f, "__globals__", {})
