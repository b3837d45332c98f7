"""What our own processes leave out, since to import it takes long and nothing here asks it anything."""

from __future__ import annotations

import sys

#: With it JSON schemas could tell one form of web address from another; it builds a grammar for that, in a second
BLOCKED = ("rfc3987_syntax",)


def block_slow_imports() -> None:
    """From here on this process cannot import it, and who can do without it does. For processes that are ours alone."""
    for name in BLOCKED:
        sys.modules[name] = None  # type: ignore[assignment]  # as the import system has it: it is not to be found
