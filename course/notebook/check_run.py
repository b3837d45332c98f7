"""The calls of one check, with time limits, output and an explained error.

After a call that hung, or that the learner interrupted, no other runs: one interrupt ends a check. A function that hung
is not called again until it is checked again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..check_data import Case, CaseResults, case_of
from ..harness import time_limits
from ..harness.errors import not_written
from ..harness.program import Observation, Program
from ..harness.runner import CallHooks, observe
from .captured_output import CappedStream, CapturedOutput
from .follow_through import replaced
from .help.errors import explained

if TYPE_CHECKING:
    from .session import Session

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
            self.errors[-1] = explained(witness.error)
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
        asked = CaseResults(run.run_case)
        cases = [case_of(record) for record in session.exercise_data(name)["cases"]]
        asked.run_cases(cases, {**namespace(session, f), name: f})
    return asked.right


def namespace(session: Session, f: Any) -> dict[str, Any]:
    """The names that the learner's function uses."""
    return session.names or getattr(f, "__globals__", {})
