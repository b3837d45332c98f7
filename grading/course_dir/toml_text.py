"""Write small TOML files.

A file has tables of texts, numbers and booleans, and lists of such tables.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

Value = str | float | bool
Table = Mapping[str, Value | Sequence[Mapping[str, Value]]]


def to_toml(data: Table, note: str = "") -> str:
    """The text of a TOML file. `note`: its first line, a comment."""
    lines = [f"# {note}", ""] if note else []
    lines += [f"{key} = {_value(value)}" for key, value in data.items() if isinstance(value, Value)]
    for key, rows in data.items():
        if not isinstance(rows, Value):
            for row in rows:
                lines += ["", f"[[{key}]]", *(f"{name} = {_value(value)}" for name, value in row.items())]
    return "\n".join(lines).lstrip("\n") + "\n"


def _value(value: Value) -> str:
    if isinstance(value, str):  # JSON's escapes are valid in TOML, but JSON leaves one character unescaped
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value)
