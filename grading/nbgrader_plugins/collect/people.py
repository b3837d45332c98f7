"""Which student an owner is: one whom the gradebook knows, or a new one called by the platform's name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .names import Owner, letters, slug

LONGEST_ID = 200  # bytes: an id is a folder's name, which has at most 255


class NotTold(Exception):
    """Nothing tells which student it is; `args[0]` says why."""


class People:
    """The gradebook's students, by what a download may call them."""

    def __init__(self, students: Iterable[Any]) -> None:
        self._ids: set[str] = set()
        self._by_number: dict[str, str] = {}
        self._by_name: dict[str, set[str]] = {}
        for student in students:
            self._ids.add(student.id)
            if student.lms_user_id:
                self._by_number[str(student.lms_user_id)] = student.id
            first, last = student.first_name or "", student.last_name or ""
            for name in (student.id, f"{first} {last}", f"{last} {first}", student.email or ""):
                if key := letters(name):
                    self._by_name.setdefault(key, set()).add(student.id)

    def known(self, owner: Owner) -> str | None:
        """The id of a student of the gradebook, or None. Raises NotTold for a name of several, or a borrowed one."""
        if owner.kind == "canvas" and owner.number in self._by_number:
            return self._by_number[owner.number]
        if owner.kind == "folder" and owner.name in self._ids:
            return owner.name
        same = self._by_name.get(letters(owner.name), set())
        if len(same) > 1:
            raise NotTold(f"the gradebook has several students of that name ({', '.join(sorted(same))})")
        if owner.kind == "canvas" and same & set(self._by_number.values()):
            raise NotTold("the gradebook's student of that name has another number")
        return next(iter(same), None)

    def ids(self, owners: Iterable[Owner]) -> dict[Owner, str | NotTold]:
        """The id of each. New people of one name get the platform's numbers added, where all have one."""
        found: dict[Owner, str | NotTold] = {}
        new: dict[str, list[Owner]] = {}
        for owner in dict.fromkeys(owners):
            try:
                student = self.known(owner)
                if student is None:
                    student = new_id(owner)
                    new.setdefault(student, []).append(owner)
                found[owner] = student
            except NotTold as why:
                found[owner] = why
        for student, several in new.items():
            if len(several) > 1 and all(owner.number for owner in several):
                found |= {owner: f"{student}_{owner.number}" for owner in several}
        return found


def new_id(owner: Owner) -> str:
    student = slug(owner.name)
    if not student:
        raise NotTold("its name has no letter or digit")
    if len(student.encode()) > LONGEST_ID:
        raise NotTold("its name is too long")
    return student
