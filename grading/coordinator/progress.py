"""Progress of a class in a terminal: a bar per lesson, and log messages above."""

from __future__ import annotations

import logging
import time
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

from grading.safe_text import one_line


def progress_bars(console: Console) -> Progress:
    """Bars with counts, elapsed and remaining time, as a context manager."""
    return Progress(
        TextColumn("{task.description:<40}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
    )


def seconds_each(begun: float, number: int) -> str:
    """Format the time per item since `begun` (`time.monotonic`); "" for no items."""
    return f", {(time.monotonic() - begun) / number:.1f} s each" if number else ""


def show_failures(messages: Iterable[str], console: Console) -> None:
    """Print one line per failure."""
    for message in messages:
        console.print(Text.assemble(("✗ ", "red"), one_line(message)), soft_wrap=True)


def describe_error(error: BaseException) -> str:
    """The kind and place of an error, without its text, which may name a student or a file of theirs."""
    what = (error.strerror if isinstance(error, OSError) else None) or type(error).__name__
    places = [
        f" ({Path(last.filename).name}, line {last.lineno})" for last in traceback.extract_tb(error.__traceback__)
    ]
    return what + "".join(places[-1:])  # an error that was never raised has none


@contextmanager
def log_above(console: Console) -> Iterator[None]:
    """Print the log messages of `grading` above the bars, each once."""

    shown: set[str] = set()

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if (text := record.getMessage()) not in shown:
                shown.add(text)
                console.print(Text(text, style="dim"), soft_wrap=True)

    log, handler = logging.getLogger("grading"), Handler(logging.WARNING)
    log.addHandler(handler)
    log.propagate = False
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.propagate = True
