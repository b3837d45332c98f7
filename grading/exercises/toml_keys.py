"""Checks of the keys in a table of a TOML file that an author writes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

TYPES: dict[str, type | tuple[type, ...]] = {
    "a number": (int, float),
    "a text": str,
    "a list": list,
    "a table": dict,
    "a text, a number or a list": (str, int, float, list),
}


def wrong_keys(
    table: Mapping[str, Any], keys: Mapping[str, str], where: str, optional: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Yield what is wrong with a table's keys, in phrases.

    keys, optional  key -> what its value is, a key of TYPES
    where           begins each phrase
    """
    known = {**keys, **(optional or {})}
    for key in table:
        if key not in known:
            yield f"{where}unknown key {key!r}{_suggestion(key, known.keys() - table.keys() or known)}"
    for key, kind in known.items():
        value = table.get(key)
        empty = isinstance(value, str) and not value.strip()
        if key in keys and (key not in table or empty):
            yield f"{where}{key!r} is missing: expected {kind}"
        elif key in table and (not isinstance(value, TYPES[kind]) or isinstance(value, bool) or empty):
            yield f"{where}{key!r}: expected {kind}, got {value!r}"


def _suggestion(key: str, valid: Collection[str]) -> str:
    nearest = get_close_matches(key, valid, n=1, cutoff=0.5)
    return f" (did you mean {nearest[0]!r}?)" if nearest else f" (valid: {', '.join(sorted(valid))})"
