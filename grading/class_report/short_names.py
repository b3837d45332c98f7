"""Names of people where there is little room."""

from __future__ import annotations


def shortened(name: str, most: int = 24) -> str:
    """A long name without its middle: what tells people apart stands at both ends."""
    return name if len(name) <= most else f"{name[: most - most // 3 - 1]}…{name[-(most // 3) :]}"
