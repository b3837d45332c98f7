"""The versions of Python that submitted notebooks name, for `grading doctor`.

The coordinator looks for one field in a few bytes and parses nothing, because a submission may be hostile. A notebook
that names a wrong version changes nothing but doctor's advice.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from itertools import islice
from pathlib import Path

from grading.errors import Unreadable
from grading.notebooks.submitted_file import resolve

FIELD = b'"language_info"'  # of a notebook's metadata, which is at the file's beginning (Colab) or end (Jupyter)
NEAR, LENGTH = 16_384, 1_024  # bytes from each end of a file, and of the field
VERSION = re.compile(rb'"version"\s{0,9}:\s{0,9}"3\.(\d{1,2})(?!\d)')  # without quotes it is CodeMirror's
MOST = 1_000  # notebooks


def python_versions(submitted: Path) -> Counter[tuple[int, int]]:
    """How many of the notebooks in submitted/, of the first MOST, name each version of Python."""
    found = (python_version(path) for path in islice(submitted.glob("*/*/*.ipynb"), MOST))
    return Counter(version for version in found if version)


def python_version(notebook: Path) -> tuple[int, int] | None:
    """The version of Python that a notebook names; None if it names none or cannot be opened."""
    try:
        descriptor = os.open(resolve(notebook), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            begin = file.read(NEAR)
            file.seek(max(0, file.seek(0, os.SEEK_END) - NEAR))
            end = file.read(NEAR)
    except (Unreadable, OSError):
        return None
    for part in (end, begin):
        if (at := part.rfind(FIELD)) >= 0 and (version := VERSION.search(part, at, at + LENGTH)):
            return 3, int(version[1])
    return None
