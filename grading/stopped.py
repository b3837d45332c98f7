"""One line on the state that Ctrl-C leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Stopped(KeyboardInterrupt):
    """The user stopped a command; the message says what is kept and how to go on."""


@contextmanager
def tell_if_stopped(kept: Callable[[], str]) -> Iterator[None]:
    """Raise Stopped instead of KeyboardInterrupt. kept: makes a sentence on what was kept."""
    try:
        yield
    except Stopped:
        raise
    except KeyboardInterrupt:
        raise Stopped(kept()) from None
