"""Block slow imports that our processes never use."""

from __future__ import annotations

import sys

#: An optional import of jsonschema, to validate web addresses; it builds a grammar, which takes a second
BLOCKED = ("rfc3987_syntax",)


def block_slow_imports() -> None:
    """Make these imports fail in this process, which must be ours; their users have fallbacks."""
    for name in BLOCKED:
        sys.modules[name] = None  # type: ignore[assignment]  # None makes `import` raise ModuleNotFoundError
