"""A temporary progress bar for checks that take longer than a moment."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..report import in_notebook

SHOW_AFTER_SECONDS = 0.5  # seconds before it appears and between redraws


@contextmanager
def check_progress(what: str) -> Iterator[ProgressBar]:
    """Show a bar for `what` in a notebook or a terminal, nothing elsewhere."""
    bar = ProgressBar(what)
    try:
        yield bar
    finally:
        bar.clear()


class ProgressBar:
    """A bar that is called with the number of completed steps of `total`."""

    def __init__(self, what: str) -> None:
        self.what, self.total = what, 0
        self.drawn = time.monotonic()
        self.handle: Any = None
        self.printed = ""

    def __call__(self, done: int) -> None:
        if time.monotonic() - self.drawn < SHOW_AFTER_SECONDS:
            return
        self.drawn = time.monotonic()
        text = f"{done} of {self.total} {self.what}"
        if in_notebook():
            place = f'value="{done}" max="{self.total}" aria-label="{self.what}"'
            self._show({"text/html": f'<div><progress {place} style="width:22em"></progress> {text}</div>'}, text)
        elif sys.stderr.isatty():
            self.printed = text
            print(f"\r{text}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        if self.handle is not None:
            self._show({"text/html": ""}, "")
        elif self.printed:
            print(f"\r{' ' * len(self.printed)}\r", end="", file=sys.stderr, flush=True)

    def _show(self, shown: dict[str, str], text: str) -> None:
        from IPython.display import display

        if self.handle is None:
            self.handle = display({**shown, "text/plain": text}, raw=True, display_id=True)
        else:
            self.handle.update({**shown, "text/plain": text}, raw=True)
