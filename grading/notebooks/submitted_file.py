"""The file of a submission, found by name and path without opening it.

With this, the coordinator, which has the gradebook, finds the file for a judge to open, or the reason why none can be
opened, and makes the notebook that gives the reason. A judge reads the file (`reading`).
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import nbformat
from nbformat.notebooknode import NotebookNode

from grading.errors import Unreadable
from grading.notebooks.cells import RECORD

UNREADABLE = "unreadable"  # the id of the cell with the reason
MAX_BYTES = 64 * 2**20
BESIDE = (".txt", ".csv", ".tsv", ".png", ".jpg", ".jpeg", ".gif", ".webp")  # files that the formgrader may show
MAX_BESIDE, MOST_BESIDE = 256 * 2**20, 1_000  # bytes, and number, of all files beside a notebook
AGAIN = "Open it in Jupyter or Colab, run it, save it, and hand in the saved file again."
WITHOUT_OUTPUTS = "Clear all outputs (in Jupyter: Edit, Clear Outputs of All Cells), save, and hand it in again."


def asks_for_another_file(reason: str) -> bool:
    """Whether a reason asks the student to hand in again, rather than being our error."""
    return re.search(r"\bhand (it )?in\b", reason, re.IGNORECASE) is not None


def resolve(path: str | os.PathLike[str], max_bytes: int = MAX_BYTES) -> Path:
    """Real path of a submitted file. Raises Unreadable if it may not be opened."""
    path = os.fspath(path)
    try:
        if os.path.isdir(path) and not os.path.islink(path):
            raise Unreadable(f"A folder was handed in under this name, not a file. {AGAIN}")
        if os.path.islink(path) and not is_file_within(path, os.path.dirname(path)):
            raise Unreadable("A link to another file was handed in, not the file. Hand in the notebook itself.")
        info = os.stat(path)
    except OSError as error:
        raise open_error(error) from error
    if not stat.S_ISREG(info.st_mode):
        raise Unreadable(f"The submission is not an ordinary file. {AGAIN}")
    if info.st_size > max_bytes:
        raise Unreadable(f"The file is very large: {info.st_size / 1e6:.0f} MB. {WITHOUT_OUTPUTS}")
    return Path(os.path.realpath(path))


def open_error(error: OSError) -> Unreadable:
    """The error for a file that the system does not open."""
    return Unreadable(f"The file could not be opened ({error.strerror}). {AGAIN}")


def unsafe_files(folder: str | os.PathLike[str]) -> Iterator[tuple[str, str]]:
    """Yield the files of a submission that may not be copied or shown, each with the reason.

    Of more than MOST_BESIDE files, only their folder.
    """
    folder, left = os.fspath(folder), MAX_BESIDE
    files = ((place, name) for place, _, names in os.walk(folder) for name in names)
    found = [os.path.join(place, name) for place, name in islice(files, MOST_BESIDE + 1)]
    if len(found) > MOST_BESIDE:
        yield folder, f"more than {MOST_BESIDE:,} files beside the notebook"
        return
    for path in found:
        kind = os.path.splitext(path)[1].lower()
        if not is_file_within(path, folder):
            yield path, "a link to a file outside the submission"
        elif kind not in (*BESIDE, ".ipynb"):
            yield path, "a kind of file that may run when it is opened"
        elif not os.path.basename(path).isprintable():
            yield path, "its name has characters that cannot be shown"
        elif kind in BESIDE and not os.access(path, os.R_OK):
            yield path, "it cannot be read"
        elif kind in BESIDE:
            if (size := os.path.getsize(path)) > left:
                yield path, f"the files beside the notebook are larger than {MAX_BESIDE // 2**20} MiB together"
            else:
                left -= size


def is_file_within(path: str, folder: str) -> bool:
    """Whether `path` leads to an ordinary file in `folder`."""
    real, home = os.path.realpath(path), os.path.realpath(folder)
    return real.startswith(home + os.sep) and os.path.isfile(real)


def make_notebook(cells: list[dict[str, Any]], metadata: dict[str, Any]) -> NotebookNode:
    """A notebook of format 4.5."""
    version = {"nbformat": 4, "nbformat_minor": 5}
    notebook: NotebookNode = nbformat.from_dict({**version, "metadata": metadata, "cells": cells})
    return notebook


def unreadable_notebook(reason: str) -> NotebookNode:
    """A notebook that says why the submitted one could not be read."""
    text = (
        "**This notebook could not be read, so nothing in it was graded.**\n\n"
        f"{reason}\n\nA person will look at it. Until then its points are open: neither given nor lost."
    )
    cell = {"cell_type": "markdown", "id": UNREADABLE, "metadata": {}, "source": text}
    return make_notebook([cell], {RECORD: {"repairs": [], "unreadable": reason}})
