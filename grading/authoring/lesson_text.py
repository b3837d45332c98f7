"""Read a lesson's text in source/ as a notebook, in which each cell has its kind as a tag.

The same text gives the same bytes, since cell ids come from the cells' positions.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from copy import deepcopy
from functools import lru_cache
from pathlib import Path

import jupytext
from nbformat import NotebookNode

from course.cell_kinds import KINDS

from ..notebooks.cells import grade_id

KERNELSPEC = {"display_name": "Python 3", "language": "python", "name": "python3"}
FOLDED = re.compile(r"# @title \S")  # the notebook shows this line in place of the folded cell
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*$", re.M)
SIGNS = {  # kind of a code cell -> what shows it without a tag
    "code": re.compile(r"^begin\(", re.M),
    "exercise": re.compile(r"^check\(\w|^%%answer|^ +raise NotImplementedError", re.M),
    "prediction": re.compile(r"^predict\(", re.M),
    "experiment": re.compile(r'^check\("experiment"', re.M),
    "progress": re.compile(r"^progress\(", re.M),
}


def read_lesson(path: Path) -> NotebookNode:
    """A lesson's text as a notebook with stable cell ids, which the caller may change."""
    return deepcopy(_parsed(path.read_text(encoding="utf-8")))


@lru_cache(maxsize=32)  # a release derives many things from one text, and to parse it takes thirty times as long
def _parsed(text: str) -> NotebookNode:
    notebook: NotebookNode = jupytext.reads(text, fmt="py:percent")
    notebook.metadata = NotebookNode(kernelspec=NotebookNode(KERNELSPEC))
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for cell, name in zip(notebook.cells, _ids(notebook), strict=True):
        cell["id"] = name
        cell.metadata.pop("lines_to_next_cell", None)  # jupytext's own bookkeeping
        tags = cell.metadata.get("tags", [])
        cell.metadata["tags"] = [*_kinds(cell, tags), *(tag for tag in tags if tag not in KINDS)]
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
        if FOLDED.match(cell.source):
            cell.metadata |= {"jupyter": {"source_hidden": True}, "cellView": "form"}  # for JupyterLab, and for Colab
    return notebook


def _kinds(cell: NotebookNode, tags: list[str]) -> list[str]:
    """The kinds that a cell's tags, marks and code give it: one, unless its author must change it."""
    code = cell.cell_type == "code"
    kinds = [tag for tag in tags if tag in KINDS]
    kinds += ["exercise"] if grade_id(cell) else []
    kinds += [kind for kind, sign in SIGNS.items() if code and sign.search(cell.source)]
    return list(dict.fromkeys(kinds)) or ([] if code else ["text"])


def _ids(notebook: NotebookNode) -> Iterator[str]:
    """A graded cell's id is its grade_id; others are named by heading and position."""
    heading, place = "top", 0
    taken: set[str] = set()
    for cell in notebook.cells:
        found = HEADING.search(cell.source) if cell.cell_type == "markdown" else None
        if found:
            heading, place = re.sub(r"[^a-z0-9]+", "-", found.group(1).lower()).strip("-")[:40] or "section", 0
        name = re.sub(r"[^A-Za-z0-9_-]", "-", grade_id(cell)) or f"{heading}-{place}"
        place += 1
        if name in taken:
            name = f"{name[:50]}-{hashlib.sha256(f'{heading}{place}{len(taken)}'.encode()).hexdigest()[:8]}"
        taken.add(name)
        yield name[:64]
