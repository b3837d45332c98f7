"""Fill one column of an LMS's gradebook CSV; leave every other cell unchanged.

Known formats, all CSV with a header line: Canvas's gradebook export (columns "Student", "ID", "SIS User ID", "SIS Login
ID", "Section", then "Name (number)" for each assignment, and a second line "Points Possible"); Moodle's grader report
("ID number", "Email address", "Assignment: name (Real)") and its offline grading worksheet ("Identifier", "Email
address", "Grade", "Maximum Grade"). The column with the class's ids identifies the students.

Does not cover: where the points come from (`coordinator.class_data`).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from grading.errors import GradebookCsvError
from grading.points import points_text

from .people import Person, id_key

WORKSHEET = ("Grade", "Maximum Grade")  # columns of Moodle's offline grading worksheet
POINTS_POSSIBLE = "points possible"
CANVAS = ["Student", "ID"]  # its first columns
EXCUSED = "EX"  # valid in Canvas's files; Moodle's files only accept numbers


@dataclass
class FillResult:
    """The file's new text, and the outcome for each student.

    column     the filled column
    by         the column with ids
    changed    student -> the cell before and after
    unmatched  students with points who are in no line
    left       lines of people without points
    excused    excused students, if this kind of file cannot mark them
    """

    text: str
    column: str
    by: str
    changed: dict[str, tuple[str, str]] = field(default_factory=dict)
    same: int = 0
    unmatched: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    excused: list[str] = field(default_factory=list)


def fill_column(
    data: bytes,
    lesson: str,
    people: Sequence[Person],
    points: Mapping[str, float],
    most: float,
    column: str = "",
    by: str = "",
    excused: Collection[str] = (),
) -> FillResult:
    """Fill the column of a lesson.

    points   by student, at most `most`; other cells stay as they are
    column   the column to fill (default: the one named after the lesson)
    by       the column with ids (default: detected)
    excused  students to mark as excused, if the LMS accepts that

    Raises GradebookCsvError.
    """
    text, dialect, ending = _read(data)
    rows = list(csv.reader(io.StringIO(text, newline=""), dialect))
    if not rows or len(rows[0]) < 2:
        raise GradebookCsvError(
            "this is not a gradebook file: expected a CSV file with a line of columns, as the LMS exports it"
        )
    heads = [head.strip() for head in rows[0]]
    place = _find_column(heads, lesson, column)
    whose_place = _find_id_column(heads, rows[1:], people, by)
    _check_maximum(heads, rows, place, most)
    known = _students_byid_key(people)
    comma = any(re.fullmatch(r"\s*\d+,\d+\s*", row[place]) for row in rows[1:] if len(row) > place)
    done = FillResult("", heads[place], heads[whose_place])
    cells = {student: points_text(value).replace(".", "," if comma else ".") for student, value in points.items()}
    if heads[:2] == CANVAS:
        cells |= dict.fromkeys(excused, EXCUSED)
    else:
        done.excused = sorted(excused)
    seen: set[str] = set()
    for row in rows[1:]:
        key = id_key(row[whose_place]) if len(row) > max(place, whose_place) else ""
        student = known.get(key)
        if student is None or student not in cells:
            nobodys = not key or not _is_person(row) or student in excused
            done.left += [] if nobodys else [row[whose_place].strip()]
            continue
        if student in seen:
            raise GradebookCsvError(f"{student} is in two lines of column {done.by!r}: choose another one with --by")
        seen.add(student)
        _write(row, place, cells[student], student, done)
    done.unmatched = sorted(points.keys() - seen)
    out = io.StringIO(newline="")
    csv.writer(out, dialect, lineterminator=ending).writerows(rows)
    done.text = out.getvalue()
    return done


def _read(data: bytes) -> tuple[str, type[csv.Dialect], str]:
    """Decode the file.

    Returns the text without a byte order mark, the dialect and the line ending.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        try:
            text = data.decode("utf-16") if data[:2] in (b"\xff\xfe", b"\xfe\xff") else data.decode("cp1252")
        except UnicodeDecodeError:
            raise GradebookCsvError("the file is not text: export the gradebook as CSV") from None
    first = text.splitlines()[0] if text.strip() else ""

    class Dialect(csv.excel):
        delimiter = max((",", ";", "\t"), key=first.count)

    return text, Dialect, "\r\n" if "\r\n" in text else "\n"


def _find_column(heads: Sequence[str], lesson: str, wanted: str) -> int:
    """The index of the column to fill."""
    if wanted:
        found = [place for place, head in enumerate(heads) if head == wanted]
    elif set(WORKSHEET) <= set(heads):
        found = [heads.index(WORKSHEET[0])]
    else:
        found = [place for place, head in enumerate(heads) if _letters(lesson) in _letters(head)]
    if len(found) == 1:
        return found[0]
    what = f"{len(found)} columns are" if found else "no column is"
    named = f"called {wanted!r}" if wanted else f"named after {lesson}"
    raise GradebookCsvError(f"{what} {named}. Choose the column to fill with --column; there are: {', '.join(heads)}")


def _students_byid_key(people: Sequence[Person]) -> dict[str, str]:
    """Map each key to its student. Raises GradebookCsvError if two students share one."""
    known: dict[str, str] = {}
    for person in people:
        for key in person.keys:
            if known.setdefault(key, person.student) != person.student:
                raise GradebookCsvError(
                    f"{known[key]} and {person.student} both have {key} in the gradebook: correct that first"
                )
    return known


def _find_id_column(heads: Sequence[str], rows: Sequence[Sequence[str]], people: Sequence[Person], wanted: str) -> int:
    """The index of the column that has the most ids of the class."""
    if wanted:
        if heads.count(wanted) != 1:
            raise GradebookCsvError(f"expected one column called {wanted!r}; there are: {', '.join(heads)}")
        return heads.index(wanted)
    keys = {key for person in people for key in person.keys}
    counts = [sum(len(row) > place and id_key(row[place]) in keys for row in rows) for place in range(len(heads))]
    best = max(range(len(heads)), key=counts.__getitem__)
    if not counts[best]:
        raise GradebookCsvError(
            "no student of the class is in this file: no column has the ids or e-mail addresses of the gradebook. "
            "Names are not used, because two people may have the same one."
        )
    return best


def _check_maximum(heads: Sequence[str], rows: Sequence[Sequence[str]], place: int, most: float) -> None:
    """Raise GradebookCsvError if the LMS and the lesson have different maximums."""
    maximums = [
        row[place] for row in rows[1:3] if row and row[0].strip().casefold() == POINTS_POSSIBLE and len(row) > place
    ]
    if WORKSHEET[1] in heads:
        maximums += [row[heads.index(WORKSHEET[1])] for row in rows[1:] if len(row) > heads.index(WORKSHEET[1])]
    for text in filter(str.strip, maximums):
        if (number := _value(text)) is not None and abs(number - most) > 1e-6:
            raise GradebookCsvError(
                f"column {heads[place]!r} has {points_text(number)} points in the LMS, but the lesson has "
                f"{points_text(most)}: change the assignment's points there, and export again"
            )


def _write(row: list[str], place: int, now: str, student: str, done: FillResult) -> None:
    if row[place].strip() == now or (_value(now) is not None and _value(row[place]) == _value(now)):
        done.same += 1
        return
    done.changed[student] = row[place], now
    row[place] = now


def _is_person(row: Sequence[str]) -> bool:
    return row[0].strip().casefold() not in (POINTS_POSSIBLE, "student, test")


def _letters(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def _value(text: str) -> float | None:
    """Parse an LMS's number, maybe with a decimal comma; None if it is not a number."""
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        return None


def summary_lines(done: FillResult) -> Iterator[str]:
    """Lines that describe the result."""
    yield f"column {done.column!r}, by {done.by!r}: {len(done.changed)} filled, {done.same} unchanged"
    for student, (before, now) in sorted(done.changed.items()):
        yield f"    {student}: {before.strip() or '–'} -> {now}"
    if done.unmatched:
        yield f"graded, but not in the file: {', '.join(done.unmatched)}"
    if done.excused:
        yield f"unchanged, because they are excused, which this kind of file cannot express: {', '.join(done.excused)}"
    if done.left:
        yield f"unchanged, because they are in the file but have no points: {', '.join(done.left)}"
