"""Decide whether an arriving file is newer than the one in `submitted/`.

A later file from the same account replaces a file that a command wrote and nobody changed since. Any other file is
replaced only by one with a known, later time. In all other cases the teacher decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum

BY_HAND = ""  # the channel of a file that no command of this course wrote
UNKNOWN = "time unknown"


class Evidence(Enum):
    """Evidence for the file that arrives."""

    NEWER = "it is newer"
    OLDER = "it is older"
    NONE = "nothing shows which is newer"


@dataclass(frozen=True)
class Origin:
    """The source of a file, as far as it is known.

    channel  the account on a platform ("canvas 12345"), "exchange" or "demo"; BY_HAND for any other
    source   a description: "smithjane (12345) in submissions.zip"
    when     when it was handed in; None if unknown
    order    a platform's number, higher for a person's later files; 0 if it has none
    saved    when a file put there by hand was saved; shown, but not used as evidence
    """

    channel: str
    source: str
    when: datetime | None = None
    order: int = 0
    saved: datetime | None = None

    @property
    def time(self) -> str:
        """A description of when the file was handed in."""
        saved = f" (file saved {text_of(self.saved)})" if self.saved and not self.when else ""
        return f"handed in {text_of(self.when)}" if self.when else UNKNOWN + saved

    def __str__(self) -> str:
        return f"{self.source}, {self.time}"


def weigh(there: Origin, arriving: Origin) -> Evidence:
    """Compare the file in submitted/ with the arriving one."""
    if there.when and arriving.when:
        before, now = there.when.replace(microsecond=0), arriving.when.replace(microsecond=0)  # timestamp.txt has none
        if before != now:
            return Evidence.NEWER if now > before else Evidence.OLDER
    if there.channel == BY_HAND or there.channel != arriving.channel:
        return Evidence.NONE
    if there.order and arriving.order and arriving.order < there.order:
        return Evidence.OLDER
    return Evidence.NEWER


def text_of(when: datetime) -> str:
    """Format a time as nbgrader does."""
    return f"{when.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
