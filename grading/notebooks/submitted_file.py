"""The file of a submission, found by name and path without opening it.

With this, the coordinator, which has the gradebook, finds the file for a judge to open, or the reason why none can be
opened, and makes the notebook that gives the reason. A judge reads the file (`reading`).
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import nbformat
from nbformat.notebooknode import NotebookNode

from grading.errors import Unreadable
from grading.notebooks.cells import RECORD

UNREADABLE = "unreadable"  # the id of the cell with the reason
MAX_BYTES = 64 * 2**20
AGAIN = "Open it in Jupyter or Colab, run it, save it, and hand in the saved file again."
WITHOUT_OUTPUTS = "Clear all outputs (in Jupyter: Edit, Clear Outputs of All Cells), save, and hand it in again."


def resolve(path: str | os.PathLike[str], max_bytes: int = MAX_BYTES) -> Path:
    """Real path of a submitted file. Raises Unreadable if it may not be opened."""
    path = os.fspath(path)
    try:
        if os.path.isdir(path) and not os.path.islink(path):
            raise Unreadable(f"What was handed in under this name is a folder, not a file. {AGAIN}")
        if os.path.islink(path) and not is_file_within(path, os.path.dirname(path)):
            raise Unreadable(
                "What was handed in is a link to a file somewhere else, not the file. Hand in the notebook itself."
            )
        info = os.stat(path)
    except OSError as error:
        raise open_error(error) from error
    if not stat.S_ISREG(info.st_mode):
        raise Unreadable(f"What was handed in is no ordinary file. {AGAIN}")
    if info.st_size > max_bytes:
        raise Unreadable(f"The file is very large: {info.st_size / 1e6:.0f} MB. {WITHOUT_OUTPUTS}")
    return Path(os.path.realpath(path))


def open_error(error: OSError) -> Unreadable:
    """The error for a file that the system does not open."""
    return Unreadable(f"The file could not be opened ({error.strerror}). {AGAIN}")


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


def one_line(text: str) -> str:
    """Replace characters that move a cursor, end a line or turn text around."""
    return text if text.isprintable() else "".join(c if c.isprintable() else "\ufffd" for c in text)
