"""The class report in a terminal: open work, top mistakes, lessons, and students."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..grader.verdict import SIGNS
from ..points import points_text
from .mistake_texts import MistakeTexts
from .mistakes import named
from .model import EXCUSED, ClassGrades, quartiles
from .short_names import shortened

NARROWEST = 16  # characters of a name in the table, however many lessons there are
MOST = 3  # mistakes
MOST_LINES = 10  # lines per list; the HTML page has all
BAR = 20  # characters


def show_class(grades: ClassGrades, graders: MistakeTexts, console: Console, *, students: bool = False) -> None:
    """Print the class report, with what a teacher needs first."""
    if not grades.answers and not grades.ungraded:
        console.print(
            "Nothing is graded yet: put submissions in submitted/<student>/<lesson>/ and run `grading grade`."
        )
        return
    _print_open_work(grades, console)
    _print_list("Excused (not in any mean):", _by_student(grades.excused), console)
    signs = [f"{a.student}, {a.lesson}: {a.exercise} {SIGNS[sign]}" for a, sign in grades.signs]
    _print_list("Code that may be written for the grader (read it):", signs, console)
    for row in named(grades.answers)[:MOST]:
        head = (f"{row.count} × ", (row.name.replace("_", " "), "bold"), f" in {row.exercise} ({row.lesson}")
        console.print(Text.assemble(*head, f"; see “{row.see}”)" if row.see else ")"))
        for sentence in filter(None, graders.explain(row.lesson, row.exercise, row.name)):
            console.print(Padding(Text(sentence), (0, 0, 0, 4)))
    if grades.submissions:
        console.print(_lessons_table(grades))
    loose = len({(a.student, a.lesson) for a in grades.answers if not a.verdict.sandboxed})
    if loose:
        console.print(f"{loose} of these submissions {'was' if loose == 1 else 'were'} graded without the sandbox.")
    if students:
        for table in _student_tables(grades, console.width):
            console.print(table)
    else:
        console.print(
            "`grading report --students` shows all students' points; `--html FILE` writes the whole "
            "report as a web page."
        )


def _print_open_work(grades: ClassGrades, console: Console) -> None:
    waiting = sorted({(a.student, a.lesson, a.why, a.exercise) for a in grades.answers if a.waiting})
    groups = groupby(waiting, key=lambda item: item[:3])
    lines = [
        f"{student}, {lesson}: {', '.join(item[3] for item in group)}{f' ({why})' if why else ''}"
        for (student, lesson, why), group in groups
    ]
    _print_list("Needs a person, in the formgrader:", lines, console)
    _print_list("Submitted but not graded (run `grading grade`):", _by_student(grades.ungraded), console)


def _by_student(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """One line per student, with the lessons."""
    groups = groupby(sorted(pairs), key=lambda pair: pair[0])
    return [f"{student}: {', '.join(lesson for _, lesson in group)}" for student, group in groups]


def _print_list(head: str, lines: Sequence[str], console: Console) -> None:
    if lines:
        more = len(lines) - MOST_LINES
        console.print(head)
        for line in [*lines[:MOST_LINES], *([f"and {more} more"] if more > 0 else [])]:
            console.print(Text(f"    {line}"))


def _lessons_table(grades: ClassGrades) -> Table:
    """One row per lesson: the number of grades and the quartiles, also as a bar."""
    table = Table(title="Lessons", box=SIMPLE_HEAD, padding=(0, 1), show_edge=False)
    for head, justify in (("lesson", "left"), ("graded", "right"), ("median", "right"), ("quartiles", "right")):
        table.add_column(head, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    table.add_column("", no_wrap=True)
    for lesson in grades.lessons:
        there = [s for s in grades.submissions if s.lesson == lesson]
        low, middle, high = quartiles(grades.whole(lesson))
        if math.isnan(middle):
            table.add_row(Text(lesson), str(len(there)), "–", "–", "")
            continue
        marks = [" "] * (BAR + 1)
        for place in range(_bar_position(low), _bar_position(high) + 1):
            marks[place] = "─"
        marks[_bar_position(middle)] = "●"
        row = (str(len(there)), f"{middle:.0f} %", f"{low:.0f}–{high:.0f} %", f"|{''.join(marks)}|")
        table.add_row(Text(lesson), *row)
    return table


def _bar_position(percent: float) -> int:
    return min(BAR, max(0, round(percent / 100 * BAR)))


def _student_tables(grades: ClassGrades, width: int) -> Iterator[Table]:
    """Tables with one row per student and one column per lesson.

    A column's head is the lesson's number if that is unique. Lessons that do not fit next to the names go to another
    table below.
    """
    points = {(s.student, s.lesson): f"{points_text(s.points)}/{points_text(s.most)}" for s in grades.submissions}
    points |= dict.fromkeys(grades.excused, EXCUSED)
    starred = {(s.student, s.lesson) for s in grades.submissions if s.open}
    students, lessons = sorted({student for student, _ in points}), grades.lessons
    columns = [
        [head, *_column([(points.get((s, lesson), "–"), (s, lesson) in starred) for s in students])]
        for head, lesson in zip(_column_heads(lessons), lessons, strict=True)
    ]
    title = "Points (*: needs a person)" if starred else "Points"
    while columns:
        room = width - min(NARROWEST, max(map(len, students)))
        widths = accumulate(1 + max(map(len, column)) for column in columns)
        beside = max(1, sum(taken <= room for taken in widths))
        yield _points_table(title, students, columns[:beside], width)
        columns, title = columns[beside:], ""


def _points_table(title: str, students: Sequence[str], columns: Sequence[Sequence[str]], width: int) -> Table:
    """Make one table; each column has a head and its cells."""
    table = Table(title=title or None, box=SIMPLE_HEAD, padding=0, show_edge=False)
    table.add_column("student", no_wrap=True)
    for head, *_ in columns:
        table.add_column(Text(head), justify="right", no_wrap=True)
    taken = sum(1 + max(map(len, column)) for column in columns)
    for student, *cells in zip(students, *(cells for _, *cells in columns), strict=True):
        table.add_row(Text(shortened(student, max(NARROWEST, width - taken))), *cells)
    return table


def _column_heads(lessons: Sequence[str]) -> list[str]:
    numbers = Counter(lesson.split("_")[0] for lesson in lessons)
    return [number if numbers[number := lesson.split("_")[0]] == 1 else lesson for lesson in lessons]


def _column(cells: Sequence[tuple[str, bool]]) -> list[str]:
    """Points with stars, padded if any cell has a star."""
    pad = any(star for _, star in cells)
    return [text + ("*" if star else " " * pad) for text, star in cells]
