"""A lesson's executed notebook as a page: where to run it, folded code, nothing that only a notebook needs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape

from nbformat import NotebookNode
from nbformat.v4 import new_output

from course.report import MIME as REPORT
from grading.authoring.lesson_text import FOLDED
from grading.authoring.student_install import BADGE, SET_UP
from grading.notebooks.cells import grade_id

LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")
TIME = "**Time:**"
FOLDED_LINE = re.compile(rf"\A{FOLDED.pattern}.*\n?")
WIDGETS = "application/vnd.jupyter.widget-view+json"
SLIDER = 'type="range"'
NAMES_SLIDERS = re.compile(r"^(?:an? |\w+ )?sliders?: ", re.I)
CODE = re.compile(r"`([^`]*)`")


@dataclass(frozen=True)
class Page:
    """A lesson as the first page lists it."""

    name: str
    title: str
    question: str
    time: str


@dataclass(frozen=True)
class Runnable:
    """Addresses from which a lesson is run.

    file     the notebook
    colab    the notebook in Colab; "" if it is not published
    package  the wheel to put beside the file; "" if the notebook gets it from elsewhere
    """

    file: str
    colab: str = ""
    package: str = ""


def page(notebook: NotebookNode, runnable: Runnable) -> NotebookNode:
    """Turn a notebook, which is changed, into what the site shows."""
    notebook.cells = [
        cell for cell in notebook.cells if cell.get("id") != SET_UP and (cell.source.strip() or cell.get("outputs"))
    ]
    sliders: dict[str, str] = {}
    for cell in notebook.cells:
        title = _folded_title(cell)
        cell.metadata = NotebookNode(_marks(cell, title))
        if cell.cell_type == "code":
            cell.source = FOLDED_LINE.sub("", cell.source)
            cell.outputs = [output for output in cell.outputs if WIDGETS not in output.get("data", {})]
            for output in cell.outputs:
                output.get("data", {}).pop(REPORT, None)  # Sphinx warns of it; the report is there as HTML
            if title and any(SLIDER in output.get("data", {}).get("text/html", "") for output in cell.outputs):
                sliders[f"sliders-{len(sliders) + 1}"] = NAMES_SLIDERS.sub("", title)
                anchor = f'<span id="sliders-{len(sliders)}"></span>'
                cell.outputs.insert(0, new_output("display_data", {"text/html": anchor}))
    head, *rest = re.split(r"\n\s*\n", notebook.cells[0].source)
    text = [head, _where_to_run(runnable, sliders), *(part for part in rest if not _is_badge(part))]
    notebook.cells[0].source = "\n\n".join(text)
    notebook.metadata.pop("widgets", None)
    return notebook


def _where_to_run(runnable: Runnable, sliders: dict[str, str]) -> str:
    """Say what works on the page itself and where the rest can be run, as HTML."""
    notebook = _link(runnable.file, "the notebook", " download")
    if runnable.colab:
        places = f"{_link(runnable.colab, 'open it in Colab')} or download {notebook}"
    elif runnable.package:
        package = _link(runnable.package, "the course’s package", " download")
        places = f"download {notebook} and {package} into one folder and open the notebook in JupyterLab"
    else:
        places = f"download {notebook} and open it in JupyterLab"
    text = f"This page is for reading. To run the code and have your answers checked, {places}."
    if sliders:
        links = ", ".join(_link(f"#{anchor}", title) for anchor, title in sliders.items())
        text += f" Sliders that work on this page: {links}."
    return f'<p class="where-to-run">{text}</p>'


def _link(address: str, text: str, attributes: str = "") -> str:
    return f'<a href="{escape(address)}"{attributes}>{_inline(text)}</a>'


def _is_badge(paragraph: str) -> bool:
    """Whether a paragraph is the picture that links to Colab, which would be loaded from there."""
    return paragraph.lstrip().startswith(BADGE.partition("(")[0])


def _folded_title(cell: NotebookNode) -> str:
    """The title of a folded code cell; "" for any other cell."""
    if cell.cell_type != "code" or not FOLDED.match(cell.source):
        return ""
    return str(cell.source.splitlines()[0]).removeprefix("# @title ").strip()


def _marks(cell: NotebookNode, title: str) -> dict[str, object]:
    if not title:
        return {"name": grade_id(cell)} if grade_id(cell) else {}
    title = title.replace("`", "")  # shown as it is written
    return {
        "tags": ["hide-input"],
        "mystnb": {"code_prompt_show": f"Show the code: {title}", "code_prompt_hide": f"Hide the code: {title}"},
    }


def _inline(text: str) -> str:
    return CODE.sub(r"<code>\1</code>", escape(text, quote=False))


def about(name: str, notebook: NotebookNode) -> Page:
    """Title, first paragraph and time of a lesson, as its first cell has them."""
    title, *paragraphs = re.split(r"\n\s*\n", notebook.cells[0].source)
    texts = [part.strip() for part in paragraphs if not part.lstrip().startswith(("[", "<"))]  # badges
    time = next((part.removeprefix(TIME).strip() for part in texts if part.startswith(TIME)), "")
    question = LINK.sub(r"\1", texts[0]) if texts else ""  # which may lead to a place in the lesson
    return Page(name, title.lstrip("# ").strip(), question, time[:1].upper() + time[1:])
