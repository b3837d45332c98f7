"""Reading a guess at a prediction, and comparing it with the answer.

A prediction is data from the catalog, with a `kind`: "choice", "number", "list" (a shape or a tensor) or "code" (one
line, which is evaluated among the learner's names and compared by its value).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..harness import time_limits
from .given_values import Unreadable, as_nested, as_number, as_text, close, in_short, same_value

Names = Mapping[str, Any]


@dataclass(frozen=True)
class JudgedGuess:
    """A guess as text, whether it is right, and the author's sentence about a wrong one."""

    text: str
    right: bool
    why_wrong: str = ""


def judge(known: Mapping[str, Any], guess: Any, names: Names) -> JudgedGuess:
    """Compare a guess with the answer. Raises Unreadable with the reason if it cannot be one."""
    kind, text = known["kind"], in_short(guess)
    if kind == "choice":
        chosen = next((choice for choice in known["choices"] if as_text(choice) == as_text(guess)), None)
        if chosen is None:
            raise Unreadable(f"`{text}` is not one of the answers.")
        text = chosen
    elif kind in ("number", "list"):
        _read(known, guess, text)
    else:
        _evaluated(guess, names)
    right = _equal(known, guess, known["answer"], names)
    wrong = known.get("wrong", {})
    named = next((said for one, said in wrong.items() if one != "other" and _equal(known, guess, one, names)), "")
    return JudgedGuess(text, right, "" if right else named or wrong.get("other", ""))


def wanted(known: Mapping[str, Any]) -> str:
    """Describe a valid guess in words."""
    if known["kind"] == "choice":
        *others, last = [f'"{choice}"' for choice in known["choices"]]
        return f"{', '.join(others)} or {last}" if others else last
    if known["kind"] == "number":
        return "a number"
    if known["kind"] == "code":
        return "one line of code, between quotation marks"
    shape = all(isinstance(entry, int) for entry in known["answer"])
    return "a shape, such as (2, 3)" if shape else "a list of numbers, such as [0.5, 1]"


def answer_in_words(known: Mapping[str, Any]) -> str:
    """Write the answer as a learner would."""
    answer = known["answer"]
    if known["kind"] == "list":
        shape = all(isinstance(entry, int) for entry in answer)
        return str(tuple(answer)) if shape else str(answer)
    return f"{answer:g}" if isinstance(answer, float) else str(answer)


def _equal(known: Mapping[str, Any], guess: Any, other: Any, names: Names) -> bool:
    """Whether a guess means the same as the answer, or as a wrong answer that the author describes."""
    try:
        if known["kind"] == "choice":
            return as_text(guess) == as_text(other)
        if known["kind"] == "code":
            same_text = isinstance(guess, str) and guess.split() == str(other).split()
            return same_text or same_value(_evaluated(guess, names), _evaluated(other, names))
        read = as_number if known["kind"] == "number" else as_nested
        return close(read(guess), read(other), tolerance=float(known.get("tolerance", 0.0)))
    except Unreadable:
        return False


def _read(known: Mapping[str, Any], guess: Any, text: str) -> None:
    try:
        as_number(guess) if known["kind"] == "number" else as_nested(guess)
    except Unreadable:
        raise Unreadable(f"Expected {wanted(known)}, got `{text}`.") from None


def _evaluated(code: Any, names: Names) -> Any:
    """The value of a line of code among these names; another value is returned as it is. Raises Unreadable."""
    if not isinstance(code, str):
        return code
    try:
        with time_limits.limit(time_limits.CALL):
            return eval(code.strip(), dict(names))  # noqa: S307 - the learner's own line, in the learner's notebook
    except (Exception, time_limits.CallTimeout) as error:
        raise Unreadable(f"`{code}` raises {type(error).__name__}: {error}") from None
