"""Which release a student's cells came from, as far as their marks show it.

nbgrader writes a checksum into each cell that it hands out, of its text, its kind and its points. A cell whose text
still has its checksum is as it was handed out, whatever the lesson is now. Where a cell has another checksum than
today's release, the releases differ there, and not only the student's file.

Does not cover: which releases there were (`nbgrader_plugins.past_releases`).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence

from nbformat.notebooknode import NotebookNode, from_dict

from .cells import grade_id
from .released import ReleasedNotebook

CHECKSUM = re.compile(r"[0-9a-f]{32}")
Checksums = Mapping[str, str]  # of a release's cells, by name


def checksum(cell: NotebookNode) -> str:
    """nbgrader's checksum of a cell, by the marks in it; "" if it has none."""
    marks = cell.metadata.get("nbgrader")
    if not isinstance(marks, dict) or not grade_id(cell):
        return ""
    is_grade, is_solution = bool(marks.get("grade", False)), bool(marks.get("solution", False))
    is_locked = not is_solution and (is_grade or bool(marks.get("locked", False)))
    parts = [cell.source, cell.cell_type, str(is_grade), str(is_solution), str(is_locked), grade_id(cell)]
    if is_grade:
        points = marks.get("points")
        parts += [str(float(points))] if isinstance(points, int | float) else [""]
    return hashlib.md5("".join(parts).encode("utf-8", "replace"), usedforsecurity=False).hexdigest()


def kept_checksum(cell: NotebookNode) -> str:
    """The checksum with which a cell was handed out; "" if it is lost."""
    marks = cell.metadata.get("nbgrader")
    found = marks.get("checksum") if isinstance(marks, dict) else None
    return found if isinstance(found, str) and CHECKSUM.fullmatch(found) else ""


def is_as_handed_out(cell: NotebookNode) -> bool:
    """Whether the student has left a cell as it was, in whatever release."""
    return kept_checksum(cell) == checksum(cell) != ""


def todays_release(released: ReleasedNotebook) -> dict[str, str]:
    """The checksums of today's cells as students get them; the gradebook's are of cells with their hidden tests."""
    found = {}
    for name, cell in released.marked.items():
        as_given = from_dict({"cell_type": cell.cell_type, "source": cell.visible, "metadata": cell.metadata()})
        found[name] = checksum(as_given) if cell.visible != cell.source.rstrip() else cell.checksum
    return found


def find_release(
    cells: Iterable[NotebookNode], released: ReleasedNotebook, earlier: Sequence[Checksums] = ()
) -> Checksums:
    """The release that the student's cells came from: today's, unless an earlier one has more of them.

    earlier  newest first
    """
    now = todays_release(released)
    marks = {(grade_id(cell), kept_checksum(cell)) for cell in cells if kept_checksum(cell)}
    names = {name for name, _ in marks}

    def rank(release: Checksums) -> tuple[int, int]:
        return len(marks & set(release.items())), -len(release.keys() - names)

    return max([now, *earlier], key=rank) if marks else now
