"""Whether a file that arrives is evidently newer than the one in `submitted/`.

A file that a command wrote, and that nobody changed since, gives way to a later one from the same account. Any other
gives way only to a file with a later known time. Everything else is a question for the teacher.
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
    """Where a file came from, as far as is known.

    channel  the account on a platform ("canvas 12345"), "exchange" or "demo"; BY_HAND for any other
    source   the same in words: "smithjane (12345) in submissions.zip"
    when     when it was handed in; None if unknown
    order    a platform's number, higher for later files of a person; 0 if it has none
    saved    when a file by hand was saved, to show it; no evidence of when it was handed in
    """

    channel: str
    source: str
    when: datetime | None = None
    order: int = 0
    saved: datetime | None = None

    @property
    def time(self) -> str:
        """When it was handed in, in words."""
        saved = f" (file saved {text_of(self.saved)})" if self.saved and not self.when else ""
        return f"handed in {text_of(self.when)}" if self.when else UNKNOWN + saved

    def __str__(self) -> str:
        return f"{self.source}, {self.time}"


def weigh(there: Origin, arriving: Origin) -> Evidence:
    """Compare what is in submitted/ with what arrives."""
    if there.when and arriving.when:
        before, now = there.when.replace(microsecond=0), arriving.when.replace(microsecond=0)  # as timestamp.txt has it
        if before != now:
            return Evidence.NEWER if now > before else Evidence.OLDER
    if there.channel == BY_HAND or there.channel != arriving.channel:
        return Evidence.NONE
    if there.order and arriving.order and arriving.order < there.order:
        return Evidence.OLDER
    return Evidence.NEWER


def text_of(when: datetime) -> str:
    """A time as nbgrader writes it."""
    return f"{when.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
