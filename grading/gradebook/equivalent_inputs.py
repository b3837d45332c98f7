"""Different values of a grade's inputs that give the same grade.

`equivalent_inputs.json` lists them in groups, by key of `grade_inputs.WORDS` and by lesson. They keep an earlier
version's grades up to date for lessons that the teacher has not changed. For example, a new version may hash the same
graders differently, or reword a lesson without changing a grade.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from grading.old_names import MOVED

FILE = Path(__file__).with_name("equivalent_inputs.json")
Groups = dict[str, dict[str, list[list[str]]]]
"""Key -> lesson -> groups of values. Versions are added by hand, under "every lesson"."""


def same_grade(key: str, one: str | None, other: str | None) -> bool:
    """Whether two values of one input give the same grade."""
    if one == other:
        return True
    if one is None or other is None:
        return False
    if key == "late":  # the value names the module of the late policy
        return _with_new_names(one) == _with_new_names(other)
    groups = _read(FILE).get(key, {})
    return any(one in group and other in group for listed in groups.values() for group in listed)


def record_value(key: str, lesson: str, value: str, *, changed: bool = False, file: Path = FILE) -> None:
    """Add a value to the last group, or start a new group.

    `changed`: whether the value gives other grades, and so starts a group.
    """
    known: Groups = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    groups = known.setdefault(key, {}).setdefault(lesson, [])
    if not groups or (changed and value not in groups[-1]):
        groups.append([value])
    elif value not in groups[-1]:
        groups[-1].append(value)
    file.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    _read.cache_clear()


@cache
def _read(file: Path) -> Groups:
    known: Groups = json.loads(file.read_text(encoding="utf-8"))
    return known


def _with_new_names(text: str) -> str:
    """Replace old names of our modules with the current ones."""
    for old, new in MOVED.items():
        text = text.replace(repr(old), repr(new))
    return text
