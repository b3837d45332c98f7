"""One line on the state that Ctrl-C leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Stopped(KeyboardInterrupt):
    """The user stopped a command; the message says what is kept and how to go on."""


@contextmanager
def tell_if_stopped(kept: Callable[[], str]) -> Iterator[None]:
    """Raise Stopped in place of KeyboardInterrupt. kept: a sentence on what is kept, made when it happens."""
    try:
        yield
    except Stopped:
        raise
    except KeyboardInterrupt:
        raise Stopped(kept()) from None
