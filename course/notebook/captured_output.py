"""Output that a learner's code prints during a check, by call."""

from __future__ import annotations

import io
from dataclasses import dataclass, field

from ..report import CodeNote

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
