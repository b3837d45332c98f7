"""Text on its way to a terminal or a log: a student's moves no cursor and forges no line.

Every module that shows such text uses `say`, a `SafeConsole`, or a logger after `make_safe` (tests/test_exits.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    import logging  # slow to import


def plural(number: int, noun: str) -> str:
    """The number and its noun: "1 grade", "2 grades"."""
    return f"{number} {noun}{'s' * (number != 1)}"


def one_line(text: str) -> str:
    """Replace characters that move a cursor, end a line or turn text around."""
    return text if text.isprintable() else "".join(c if c.isprintable() else "\ufffd" for c in text)


def harmless(text: str) -> str:
    """The text with its line ends, without other characters that control a terminal."""
    return "\n".join("\t".join(map(one_line, line.split("\t"))) for line in text.split("\n"))


def say(text: object = "", *, file: TextIO | None = None, flush: bool = False) -> None:
    """Print a text that may contain a student's text."""
    print(harmless(str(text)), file=file, flush=flush)


def make_safe(logger: logging.Logger) -> None:
    """Pass all messages of a logger, libraries' included, through `harmless`."""
    if _made_harmless not in logger.filters:
        logger.addFilter(_made_harmless)


def _made_harmless(record: logging.LogRecord) -> bool:
    record.msg, record.args = harmless(record.getMessage()), ()
    return True
