"""Short names of people for narrow columns."""

from __future__ import annotations


def shortened(name: str, most: int = 24) -> str:
    """Shorten a long name in the middle, since both ends distinguish people."""
    return name if len(name) <= most else f"{name[: most - most // 3 - 1]}…{name[-(most // 3) :]}"
