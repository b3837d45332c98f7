"""Split a lesson's text into cells, and align the cells of two versions.

The cells keep every character, and each knows its exercise. Does not cover: the notebook made from the text
(`lesson_text`, which needs jupytext), merging (`merge_lessons`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import pairwise

from ..notebooks.cells import exercise_named

MARKER = re.compile(r"^# ?%%", re.MULTILINE)
HEADING = re.compile(r"^# ?#{1,6}\s+(.*?)\s*$", re.MULTILINE)
GRADE_ID = re.compile(r'"grade_id":\s*"([^"]+)"')
ALIKE = 0.5  # share of their lines: cells that share less are different cells


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


def align(one: Sequence[Cell], other: Sequence[Cell]) -> dict[int, int]:
    """Pair the cells of two versions, by position.

    Pairs equal cells first, then cells with the same name or similar text between the same neighbours, then cells that
    were moved.
    """
    pairs: dict[int, int] = {}
    gaps = list(_gaps(one, other, pairs))
    for ours, theirs in gaps:
        for same in (_same_name, _alike):
            _pair(ours, theirs, pairs, lambda i, j, same=same: same(one[i], other[j]))  # type: ignore[misc]
    left = [i for ours, _ in gaps for i in ours], [j for _, theirs in gaps for j in theirs]
    _pair(*left, pairs, lambda i, j: one[i].text == other[j].text)
    _pair(*left, pairs, lambda i, j: _same_name(one[i], other[j]))
    return pairs


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


def _gaps(one: Sequence[Cell], other: Sequence[Cell], pairs: dict[int, int]) -> Iterator[tuple[range, range]]:
    """Pair equal cells, and yield the ranges between them."""
    texts = [cell.text for cell in one], [cell.text for cell in other]
    for tag, low, high, start, end in SequenceMatcher(None, *texts, autojunk=False).get_opcodes():
        if tag == "equal":
            pairs.update(zip(range(low, high), range(start, end), strict=True))
        else:
            yield range(low, high), range(start, end)


def _pair(ours: Sequence[int], theirs: Sequence[int], pairs: dict[int, int], same: Callable[[int, int], bool]) -> None:
    """Pair each position with the first free one that `same` accepts."""
    free = [j for j in theirs if j not in pairs.values()]
    for i in ours:
        found = next((j for j in free if same(i, j)), None) if i not in pairs else None
        if found is not None:
            pairs[i] = found
            free.remove(found)


def _same_name(one: Cell, other: Cell) -> bool:
    return (one.grade_id, one.heading) == (other.grade_id, other.heading) and bool(one.grade_id or one.heading)


def _alike(one: Cell, other: Cell) -> bool:
    """Whether two cells have similar texts; never for cells marked for grading."""
    lines = one.text.splitlines(), other.text.splitlines()
    return not (one.grade_id or other.grade_id) and SequenceMatcher(None, *lines, autojunk=False).ratio() >= ALIKE
