"""A lesson's executed notebook as a page: folded cells under their titles, nothing that only a notebook needs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from nbformat import NotebookNode

from ..authoring.lesson_text import FOLDED
from ..notebooks.cells import grade_id

LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")
TIME = "**Time:**"
FOLDED_LINE = re.compile(rf"\A{FOLDED.pattern}.*\n?")
WIDGETS = "application/vnd.jupyter.widget-view+json"


@dataclass(frozen=True)
class Page:
    """What the list of lessons says of one."""

    name: str
    title: str
    question: str
    time: str


def page(notebook: NotebookNode) -> NotebookNode:
    """The notebook as the site shows it. What it was made from is changed."""
    notebook.cells = [cell for cell in notebook.cells if cell.source.strip() or cell.get("outputs")]
    for cell in notebook.cells:
        cell.metadata = NotebookNode(_marks(cell))
        if cell.cell_type == "code":
            cell.source = FOLDED_LINE.sub("", cell.source)
            cell.outputs = [one for one in cell.outputs if WIDGETS not in one.get("data", {})]
    notebook.metadata.pop("widgets", None)
    return notebook


def _marks(cell: NotebookNode) -> dict[str, object]:
    if cell.cell_type != "code" or not FOLDED.match(cell.source):
        return {"name": grade_id(cell)} if grade_id(cell) else {}
    title = cell.source.splitlines()[0].removeprefix("# @title ").replace("`", "").strip()  # shown as it is written
    return {
        "tags": ["hide-input"],
        "mystnb": {"code_prompt_show": f"Show the code: {title}", "code_prompt_hide": f"Hide the code: {title}"},
    }


def about(name: str, notebook: NotebookNode) -> Page:
    """Title, first paragraph and time of a lesson, as its first cell has them."""
    title, *paragraphs = re.split(r"\n\s*\n", notebook.cells[0].source)
    told = [one.strip() for one in paragraphs if not one.lstrip().startswith(("[", "<"))]  # badges
    time = next((one.removeprefix(TIME) for one in told if one.startswith(TIME)), "")
    question = LINK.sub(r"\1", told[0]) if told else ""  # which may lead to a place in the lesson
    return Page(name, title.lstrip("# ").strip(), question, f"*{time.strip()}*" if time else "")
