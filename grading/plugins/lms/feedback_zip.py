"""Zip feedback files under the names by which a platform knows their owners.

    Canvas  smithjane_12345_991_02_softmax.ipynb -> smithjane_12345_991_02_softmax.html; its user and file numbers count
            (*Upload Submissions* in the gradebook's menu of the assignment)
    Moodle  Jane Smith_88231_assignsubmission_file_/… -> Jane Smith_88231_assignsubmission_file_02_softmax.html; its
            participant's number counts (*Upload multiple feedback files in a zip* in the assignment)

Does not cover: parsing the names in a download (`platforms`), matching students (`coordinator.return_feedback`).
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

from course.models.write_file import open_replacement

TAKES_BACK = ("canvas", "anonymous", "moodle")


def name_for(top: str, own: str, lesson: str) -> str:
    """The name of a feedback file.

    top  the outermost name in the download
    own  the part of it that the student chose, "" for a folder
    """
    given = top.removesuffix(own) if own else top
    return f"{given.rstrip('_')}_{lesson}.html"


def pack(out: Path, pages: Mapping[str, Path]) -> None:
    """Write the pages to a zip, atomically.

    `pages`: files by their names in the zip. Raises OSError.
    """
    with open_replacement(out) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, page in sorted(pages.items()):
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), page.read_bytes(), zipfile.ZIP_DEFLATED)
