"""The calls of one check: each has a limit, what it prints is kept, and the first error is explained.

After a call that never ended, or that the learner interrupted, no other is tried: one interrupt ends a check. A
function that never ended is remembered, and not called again until it is checked again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from ..check_data import Case
from ..harness import time_limits
from ..harness.errors import not_written
from ..harness.program import Observation, Program
from ..harness.runner import CallHooks, observe
from ..report import CodeNote, Report
from .captured_output import CappedStream, CapturedOutput
from .help.errors import WHERE, explained
from .help.slips import common_error_hint

INTERRUPTED = "it had not ended when it was interrupted"
NOT_TRIED = "not tried, since a call before it never ended"


class HungFunctions:
    """Functions that never ended, by the exercises that they answer."""

    def __init__(self) -> None:
        self.known: dict[str, Any] = {}

    def __contains__(self, f: Any) -> bool:
        return any(one is f for one in self.known.values())

    @contextmanager
    def left_out(self, names: dict[str, Any], checked: str) -> Iterator[None]:
        """Whoever calls one of these by its name in `names` is told so, instead of waiting, too."""
        put = {name: f for name, f in self.known.items() if name != checked and names.get(name) is f}
        names.update({name: _never_ends(name) for name in put})
        try:
            yield
        finally:
            names.update(put)


def _never_ends(name: str) -> Any:
    def stand_in(*_: Any, **__: Any) -> Any:
        raise time_limits.CallTimeout(f"it calls `{name}`, which never ended")

    return stand_in


class CheckRun:
    """What the calls of one check left behind, beside their observations.

    stopped  the call that never ended, and why it was stopped; empty: all ended
    """

    def __init__(self) -> None:
        self.prints = CapturedOutput()
        self.stopped = ""
        self.error: CodeNote | None = None
        self.failed = Observation()  # what the error ended

    def run_case(self, case: Case, names: Mapping[str, Any]) -> Observation:
        """The observation of a case."""
        return self.run(case.program, names, case.text, must_raise=case.reference.exact.raised is not None)

    def run(self, program: Program, names: Mapping[str, Any], call: str, must_raise: bool = False) -> Observation:
        """The observation of a program; `call` is its text, and `must_raise` says that an exception is right."""
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
            self.stopped = f"`{' '.join(call.split())}`: {seen.raised['message']}{line}."
        elif witness.error and not (self.error or must_raise or not_written(seen.raised)):
            self.error, self.failed = explained(witness.error), seen
        return seen

    def add_to_report(self, shown: Report) -> None:
        """Add to a report what only this check saw."""
        if self.stopped:
            shown.headline = f"{self.stopped} The calls after it were not tried."
        elif self.error and shown.status not in ("right", "passes", "not started"):
            said = common_error_hint(shown.exercise, [self.failed])
            told = bool(said) and said in shown.headline  # one word of help is enough
            shown.asides.append(replace(self.error, title=WHERE) if told else self.error)
        failed = [text for row in shown.rows if row.status == "wrong" for text in row.details]
        shown.asides += self.prints.as_asides(shown.exercise, failed)
