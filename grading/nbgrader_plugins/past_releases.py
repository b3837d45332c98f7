"""Past releases of a lesson, as checksums of the cells that nbgrader marks.

With it feedback can distinguish what a student changed from what the teacher changed after handing out.
"""

from __future__ import annotations

import json
from pathlib import Path

from course.models.write_file import write_file
from grading.notebooks.cells import grade_id

FOLDER = ".releases"
MOST = 50  # releases of a lesson that are remembered


def remember_release(root: Path, lesson: str, notebook: Path) -> None:
    """Record the release in this notebook, unless it is the last one recorded."""
    try:
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    except (OSError, ValueError, KeyError):  # an assignment of several notebooks, or of another name
        return
    now = {grade_id(cell): str(cell["metadata"]["nbgrader"].get("checksum", "")) for cell in cells if grade_id(cell)}
    known = past_releases(root, lesson)
    if not known or known[0] != now:
        write_file(root / FOLDER / f"{lesson}.json", json.dumps([now, *known][:MOST], indent=1) + "\n")


def past_releases(root: Path, lesson: str) -> list[dict[str, str]]:
    """Checksums by cell name, of all recorded releases, newest first."""
    try:
        found: list[dict[str, str]] = json.loads((root / FOLDER / f"{lesson}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return found
