"""The release that a student's cells came from, found by their checksums.

nbgrader stores a checksum of text, kind and points in each cell that it hands out. If the text still has that checksum,
the student has not changed the cell, whatever the lesson is now. If the stored checksum differs from today's release,
then the releases differ in that cell, and not only the student's file.

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
    """nbgrader's checksum of a cell with its present marks; "" if it has no marks."""
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
    """Whether the student left a cell unchanged, whichever release it came from."""
    return kept_checksum(cell) == checksum(cell) != ""


def todays_release(released: ReleasedNotebook) -> dict[str, str]:
    """Checksums of today's cells without hidden tests, which the gradebook's include."""
    found = {}
    for name, cell in released.marked.items():
        as_given = from_dict({"cell_type": cell.cell_type, "source": cell.visible, "metadata": cell.metadata()})
        found[name] = checksum(as_given) if cell.visible != cell.source.rstrip() else cell.checksum
    return found


def find_release(
    cells: Iterable[NotebookNode], released: ReleasedNotebook, earlier: Sequence[Checksums] = ()
) -> Checksums:
    """Find the release that most of the student's cells came from; if equal, today's.

    earlier  newest first
    """
    now = todays_release(released)
    marks = {(grade_id(cell), kept_checksum(cell)) for cell in cells if kept_checksum(cell)}
    names = {name for name, _ in marks}

    def rank(release: Checksums) -> tuple[int, int]:
        return len(marks & set(release.items())), -len(release.keys() - names)

    return max([now, *earlier], key=rank) if marks else now
