"""`check("experiment", finding)`: the finding of the lesson's experiment, which is not graded.

The catalog has what to compare it with: an interval for a number, a sign, or an order of names, and known wrong
findings with a sentence on how one gets each.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..report import EXPERIMENT, Report
from . import catalog
from .guess import Unreadable, as_number, as_text, shorten
from .session import Session

SIGNS = {"+": ("+", "plus", "positive"), "-": ("-", "−", "minus", "negative"), "0": ("0", "zero", "none")}
NONE_HERE = "This lesson has no experiment."
DAMAGED = "The file with this lesson's experiment cannot be read: install the course again."


def experiment_report(session: Session, finding: Any) -> Report:
    """Report on a finding, and record it. Never raises; `...` or None is no finding yet."""
    lesson = session.lesson or ""
    try:
        known = catalog.experiment_of(lesson)
        if not known:
            return _report("not started", NONE_HERE)
        if finding is ... or finding is None:
            return _report("not started", f"Put your finding in place of the dots: {describe_finding(known)}.")
        try:
            found = _read(known, finding)
        except Unreadable:
            text = shorten(finding)
            return _report("wrong", f"Expected {describe_finding(known)}, got {text}.")
        right = _matches(known, known, found)
        said = known["confirmed"] if right else _about_wrong(known, found)
    except Exception:
        return _report("not started", DAMAGED)
    status = "passes" if right else "wrong"
    session.store.record(lesson, EXPERIMENT, session.store.get(lesson, EXPERIMENT).after(status, 0.0, None, most=1))
    shown = " < ".join(found) if isinstance(found, list) else shorten(finding)
    return _report(status, f"You found {shown}.", said)


def status_of(session: Session, lesson: str) -> str:
    """The status of a lesson's experiment; empty if it has none."""
    try:
        known = catalog.experiment_of(lesson)
    except ValueError:
        return ""
    return session.store.get(lesson, EXPERIMENT).status if known else ""


def describe_finding(known: Mapping[str, Any]) -> str:
    """Describe a valid finding in words."""
    if known["kind"] == "number":
        return "a number"
    if known["kind"] == "sign":
        return 'a sign, "+" or "-", or a number with this sign'
    names = ", ".join(f'"{name}"' for name in sorted(known["answer"]))
    return f"a list of the names {names} in their order"


def _read(known: Mapping[str, Any], finding: Any) -> float | str | list[str]:
    """A finding as a number, a sign, or names in order. Raises Unreadable."""
    if known["kind"] == "number":
        return as_number(finding)
    if known["kind"] == "sign":
        return _sign(finding)
    parts = re.split(r"[<>,;]", finding) if isinstance(finding, str) else finding
    if not isinstance(parts, (list, tuple)):
        raise Unreadable
    names, names_by_text = [as_text(part) for part in parts], {as_text(name): name for name in known["answer"]}
    if sorted(names) != sorted(names_by_text):
        raise Unreadable
    return [names_by_text[name] for name in names]


def _sign(finding: Any) -> str:
    text = as_text(finding) if isinstance(finding, str) else ""
    for sign, words in SIGNS.items():
        if text in words:
            return sign
    number = as_number(finding)
    if number != number:
        raise Unreadable
    return "+" if number > 0 else "-" if number < 0 else "0"


def _matches(known: Mapping[str, Any], one: Mapping[str, Any], found: float | str | list[str]) -> bool:
    """Whether a finding is the one that an entry describes: the experiment's own, or a wrong one."""
    if known["kind"] == "number":
        low, high = one["range"]
        return isinstance(found, float) and bool(low <= found <= high)
    return bool(found == one["answer"])


def _about_wrong(known: Mapping[str, Any], found: float | str | list[str]) -> str:
    text = next((one["text"] for one in known["wrong"] if _matches(known, one, found)), known["other"])
    return str(text)


def _report(status: str, headline: str, advice: str = "") -> Report:
    if status == "passes":
        headline, advice = f"{headline} {advice}", ""
    return Report(EXPERIMENT, status, 0.0, 0.0, headline=headline, advice=advice, unit=EXPERIMENT)
