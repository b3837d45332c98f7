"""Split a lesson's text into cells.

The cells keep every character, and each knows its exercise. Does not cover: the notebook made from the text
(`lesson_text`, which needs jupytext), merging (`merge_lessons`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from grading.notebooks.cells import exercise_named

MARKER = re.compile(r"^# ?%%", re.MULTILINE)
HEADING = re.compile(r"^# ?#{1,6}\s+(.*?)\s*$", re.MULTILINE)
GRADE_ID = re.compile(r'"grade_id":\s*"([^"]+)"')


@dataclass(frozen=True)
class Cell:
    """A cell of a lesson's text, with its marker line.

    The text above the first marker is a cell, too.

    space     the line ends between it and the next cell; "" for the last one
    grade_id  from nbgrader's metadata; "" for none
    heading   its first heading, in a text cell
    exercise  the exercise whose contract, answer or check it is; "" for the lesson's own cells
    """

    text: str
    space: str = ""
    grade_id: str = ""
    heading: str = ""
    exercise: str = ""

    @property
    def title(self) -> str:
        """Its heading, or else its first line."""
        lines = (line.removeprefix("#").strip() for line in self.text.splitlines()[1:])
        return self.heading or next(filter(None, lines), "")


def read_cells(text: str) -> list[Cell]:
    """Divide a lesson's text into cells; `join_cells` joins them again."""
    starts = [0, *(match.start() for match in MARKER.finditer(text) if match.start()), len(text)]
    cells = [_cell(text[start:end], end == len(text)) for start, end in pairwise(starts)]
    for first, last, exercise in _exercises(cells):
        cells[first:last] = [replace(cell, exercise=exercise) for cell in cells[first:last]]
    return cells


def join_cells(cells: Sequence[tuple[str, str]]) -> str:
    """Join cells, given as (text, space), to a lesson's text.

    A cell that used to be the last one gets an empty line after it.
    """
    return "".join(text + (space or "\n\n") for text, space in cells).rstrip("\n") + "\n"


def _cell(whole: str, last: bool) -> Cell:
    text = whole.rstrip("\n")
    marker, _, body = text.partition("\n")
    grade_id = GRADE_ID.search(marker)
    heading = HEADING.search(body) if "[markdown]" in marker else None
    space = "" if last else whole[len(text) :]
    return Cell(text, space, grade_id[1] if grade_id else "", heading[1] if heading else "")


def _exercises(cells: Sequence[Cell]) -> Iterator[tuple[int, int, str]]:
    """The range of each exercise's cells.

    It begins with the heading above the exercise's first marked cell, and ends with the last marked cell.
    """
    end = 0
    for exercise in dict.fromkeys(exercise_named(cell.grade_id) for cell in cells if cell.grade_id):
        marked = [i for i, cell in enumerate(cells) if cell.grade_id and exercise_named(cell.grade_id) == exercise]
        headings = [i for i in range(end, marked[0]) if cells[i].heading]
        yield headings[-1] if headings else marked[0], marked[-1] + 1, exercise
        end = max(end, marked[-1] + 1)
