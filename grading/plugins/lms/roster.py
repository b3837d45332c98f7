"""Match owners to students by the class list and the identity table.

Without a class list, owners become new students. An exact id takes precedence over a name. Two ids never belong to one
person. The teacher decides unclear cases; nothing is guessed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from grading.submitted.file_names import letters, slug

from .identities import BY_NAME, LEAVE, NEW, SEVERAL, IdentityTable, Row
from .platforms import LASTING, RENUMBERED, Submitter

LONGEST_ID = 200  # bytes: an id is the name of a folder, at most 255
OF_A_GROUP = "-"  # between the group's and the person's name in Moodle's downloads by group
# The name that Moodle gives everybody if it grades anonymously; then only the number identifies a person
PARTICIPANT = {"participant", "teilnehmer", "teilnehmerin", "participante", "partecipante", "deelnemer", "uczestnik"}


@dataclass(frozen=True)
class Student:
    """A student in the class list.

    `number`: the platform's id (nbgrader's `lms_user_id`); "" if unknown.
    """

    id: str
    first: str = ""
    last: str = ""
    email: str = ""
    number: str = ""

    @property
    def is_listed(self) -> bool:
        """Whether more than the id is known.

        nbgrader adds graded students with only an id.
        """
        return bool(self.first or self.last or self.email or self.number)


@dataclass(frozen=True)
class Match:
    """The students that an owner matches, several for a group.

    sure  matched by an exact id or an answer
    why   what is unclear, if there are no students
    """

    students: tuple[str, ...] = ()
    sure: bool = False
    why: str = ""

    @property
    def left_out(self) -> bool:
        return self.students == (LEAVE,)


class Roster:
    """The identity table, and the class list by the ids and names in downloads."""

    def __init__(self, students: Iterable[Student], whose: IdentityTable) -> None:
        self._identities = whose
        self._ids: dict[str, str] = {}
        self._numbers: dict[str, str] = {}
        self._emails: dict[str, str] = {}
        self._names: dict[str, set[str]] = {}
        self.listed = False
        for student in students:
            self.listed |= student.is_listed
            self._ids[student.id] = student.id
            self._numbers |= {student.number: student.id} if student.number else {}
            self._emails |= {student.email.lower(): student.id} if student.email else {}
            for name in (
                student.id,
                f"{student.first} {student.last}",
                f"{student.last} {student.first}",
                student.email,
            ):
                if key := letters(name):
                    self._names.setdefault(key, set()).add(student.id)

    def whose(self, owners: Iterable[Submitter]) -> dict[Submitter, Match]:
        """Match each owner to students; unclear owners become questions in the table."""
        owners = list(dict.fromkeys(owners))
        self._namesakes = Counter((owner.platform, letters(owner.name)) for owner in owners)
        self._in_groups = _in_groups(owners)
        found = {owner: match for owner in owners if (match := self._match_reliably(owner))}
        matched = {student for match in found.values() for student in match.students}
        for owner in owners:
            if owner not in found:
                found[owner] = self._match_by_name(owner, matched)
        for owner, match in found.items():
            if not match.students:
                self._identities.ask(owner, match.why)
        return found

    def remember(self, owner: Submitter, match: Match) -> None:
        """Remember a match by name in the table, once nothing contradicts it."""
        known = any(row.students == match.students for row in self._identities.rows_of_name(owner))
        if match.sure or owner.platform == "folder" or (owner.platform in RENUMBERED and known):
            self._identities.forget(owner)
        else:
            self._identities.remember(owner, match.students, BY_NAME if self.knows(match.students[0]) else NEW)

    def knows(self, student: str) -> bool:
        return student in self._ids

    def _match_reliably(self, owner: Submitter) -> Match | None:
        """Match by an answer, an exact id, or an earlier match, in this order."""
        row, exact = self._row(owner), self._match_by_id(owner)
        if row and row.is_answer:
            return self._check_answer(owner, row.students)
        if exact or row is None:
            return exact
        match = replace(self._check_answer(owner, row.students), sure=False)
        return match if match.students else None

    def _row(self, owner: Submitter) -> Row | None:
        """The owner's row in the table.

        If the platform's numbers change, this is the row of the owner's name, if only one person has that name.
        """
        row = self._identities.row(owner)
        if row is None and owner.platform in RENUMBERED and self._namesakes[owner.platform, letters(owner.name)] == 1:
            rows = self._identities.rows_of_name(owner)
            row = rows[0] if len(rows) == 1 else None
        return row

    def _check_answer(self, owner: Submitter, answer: tuple[str, ...]) -> Match:
        if answer == (SEVERAL,):
            return Match(why=f"{SEVERAL} is a valid answer only for folders")
        if self.listed and (strange := [student for student in answer if not self.knows(student) and student != LEAVE]):
            return Match(why=f"the class list has no student {', '.join(strange)}: `nbgrader db student add` adds one")
        others = {student: number for number, student in self._numbers.items() if number != owner.number}
        if owner.platform == "canvas" and (other := next((student for student in answer if student in others), "")):
            return Match(why=f"{other} has number {others[other]} in the class list")
        return Match(answer, sure=True)

    def _match_by_id(self, owner: Submitter) -> Match | None:
        match owner.platform:
            case "canvas":
                student = self._numbers.get(owner.number)
            case "gradescope":
                emailed = self._emails.get(owner.email.lower())
                student = self._ids.get(owner.number) or self._numbers.get(owner.number) or emailed
            case "blackboard" if not owner.number:
                student = self._user_in(owner.name)
            case "blackboard" | "github":
                student = self._ids.get(owner.number)
            case "folder":
                student = self._ids.get(owner.name)
            case _:
                return None
        return Match((student,), sure=True) if student else None

    def _user_in(self, name: str) -> str | None:
        """The only student id at the end of Blackboard's name.

        Such a name consists of an assignment and a user name.
        """
        found = [student for student in self._ids if name.endswith(f"_{student}")]
        return found[0] if len(found) == 1 else None

    def _match_by_name(self, owner: Submitter, taken: set[str]) -> Match:
        """Match by name, because no exact id matched."""
        if owner.platform == "file":
            return Match(why="its name does not show whose it is")
        if owner.platform == "blackboard" and not owner.number:
            return Match(why="the text file that Blackboard puts beside it, with the user name, is missing")
        if owner.platform == "anonymous" or (owner.platform == "moodle" and letters(owner.name) in PARTICIPANT):
            return Match((f"{slug(owner.name)}_{owner.number}",), sure=True)
        if not self.listed and owner.platform in ("blackboard", "gradescope", "github"):
            return self._match_new(owner)
        namesakes = self._students_called(owner)
        if len(namesakes) == 1 and namesakes <= taken:
            (student,) = namesakes
            return Match(why=f"it has the name of {student}, but another file has {student}'s own id")
        several = owner.platform in RENUMBERED and len(self._identities.rows_of_name(owner)) > 1
        if several or self._namesakes[owner.platform, letters(owner.name)] > 1:
            return Match(why="several people have this name, or similar names")
        if len(namesakes) > 1:
            return Match(why=f"several students in the class list have this name: {', '.join(sorted(namesakes))}")
        if not namesakes:
            return self._match_new(owner)
        (student,) = namesakes
        if self._has_other_number(student, owner):
            return Match(why=f"it has the name of {student}, but {student} has another number there")
        return Match((student,))

    def _students_called(self, owner: Submitter) -> set[str]:
        if same := self._names.get(letters(owner.name), set()):
            return same
        if owner.platform == "moodle" and self._in_groups and self.listed:
            parts = owner.name.split(OF_A_GROUP)
            suffixes = (OF_A_GROUP.join(parts[at:]) for at in range(1, len(parts)))
            return set().union(*(self._names.get(letters(name), set()) for name in suffixes))
        return set()

    def _has_other_number(self, student: str, owner: Submitter) -> bool:
        if owner.platform == "canvas" and student in self._numbers.values():
            return True  # the student's own number would have matched
        return owner.platform in LASTING and any(
            row.platform == owner.platform and row.number != owner.number for row in self._identities.known_as(student)
        )

    def _match_new(self, owner: Submitter) -> Match:
        if self.listed:
            return Match(why="no student in the class list has this name")
        if owner.platform == "moodle" and self._in_groups:
            return Match(why="it seems to begin with a group's name, and there is no class list to check that")
        student = slug(owner.number if owner.platform in LASTING and owner.platform != "canvas" else owner.name)
        if not student:
            return Match(why="its name has no letter or digit")
        if len(student.encode()) > LONGEST_ID:
            return Match(why="its name is too long")
        others = [row for row in self._identities.known_as(student) if row.platform == owner.platform]
        if others and not any(row.name == owner.name and owner.platform not in LASTING for row in others):
            return Match(why=f"{student} already is {others[0].name} ({others[0].number})")
        return Match((student,))


def _in_groups(owners: list[Submitter]) -> bool:
    """Whether Moodle put a group's name before every person's."""
    names = [owner.name for owner in owners if owner.platform == "moodle"]
    return len(names) > 1 and all(OF_A_GROUP in name for name in names)
