"""Sanitizes a submitted notebook before nbgrader writes it to autograded/.

nbgrader's formgrader shows an autograded notebook on the teacher's own Jupyter server: code in it runs as the teacher.
So everything that a judge returns has passed through here. Of a cell this remains:

text      Markdown that every renderer turns into harmless HTML (`sanitize_markdown`); the lesson's own is trusted
code      its source, which is only shown as text
outputs   text, PNG and JPEG pictures, sanitized HTML, Markdown and LaTeX
pictures  attached to a text: PNG, JPEG, GIF and WebP, by their bytes
metadata  nbgrader's marks, valid tags, our own record

All sizes are limited, with a note on what was cut. Does not cover: files beside the notebook and students' names
(`submission_exporter`), the report (`grading.grader.verdict_report`, which escapes what it quotes).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Container, Mapping
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_output

from grading.notebooks.cells import RECORD
from grading.notebooks.verdict_cell import has_verdict, is_autograded
from grading.safe_text import one_line

from . import sanitize_html, sanitize_markdown

PICTURES = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff",
    "image/gif": b"GIF8",
    "image/webp": b"RIFF",
}
SHOWN = ("image/png", "image/jpeg")  # as outputs
MARKS = {
    "grade": bool,
    "grade_id": str,
    "locked": bool,
    "schema_version": int,
    "solution": bool,
    "task": bool,
    "cell_type": str,
    "points": float,
    "checksum": str,
}
NAME = re.compile(r"[\w.-]{1,200}")  # a tag, a mark, or part of a mime type
BASE64 = re.compile(r"[A-Za-z0-9+/\n]+={0,2}\n?")
# Characters. For larger pages a browser, or the server that makes them, takes longer than a reader waits
MAX_CODE = 50_000  # of one cell's code
MAX_TEXT = 50_000  # of one output's text
MAX_RICH = 2_000_000  # of one picture or one output's HTML
MAX_CODES = 300_000  # of one notebook's code, which a server takes some ten seconds to highlight
MAX_PROSE = 100_000  # of one notebook's Markdown, except the lesson's own; parsing it takes as long
MAX_OUTPUTS = 8_000_000  # of one notebook's outputs and pictures
MAX_TAGS = 40_000**2  # the sum, over a notebook's HTML outputs, of the squares of their numbers of tags
MAX_COUNT = 1_000_000  # executions


def clean(nb: NotebookNode, trusted: Container[str] = (), rooms: OutputBudget | None = None) -> None:
    """Sanitize a notebook of format 4.5 in place. trusted: the lesson's Markdown."""
    rooms = rooms or OutputBudget()
    for cell in nb.cells:
        cell.metadata = _metadata_of_cell(cell.metadata)
        if cell.cell_type == "code":
            cell.source = rooms.code.text(sanitize_html.without_gaps(cell.source, "# …"), MAX_CODE, cut="# … cut")
            clean_run(cell, rooms)
        else:
            _clean_text(cell, trusted, rooms.prose, rooms.outputs)
    nb.metadata = _metadata_of_notebook(nb.metadata)


class OutputBudget:
    """What is left of a notebook's size limits."""

    def __init__(self) -> None:
        self.code, self.prose, self.outputs = map(_Room, (MAX_CODES, MAX_PROSE, MAX_OUTPUTS))
        self.tags = _Room(MAX_TAGS)  # nested in each other, tags cost the square of their number


class _Room:
    """What is left of one size limit."""

    def __init__(self, left: int) -> None:
        self.left = left

    def text(self, text: str, most: int, cut: str = "… cut") -> str:
        """The text, or its beginning with a note on its length."""
        most = min(most, self.left)
        self.left -= min(len(text), most)
        return text if len(text) <= most else f"{text[:most]}\n{cut}: {len(text):,} characters in all"

    def has(self, size: int, most: int = MAX_RICH) -> bool:
        """Whether something that cannot be cut fits; if so, its size is taken."""
        fits = size <= min(self.left, most)
        self.left -= size if fits else 0
        return fits


def clean_run(cell: NotebookNode, rooms: OutputBudget) -> None:
    """Sanitize a code cell's outputs in place."""
    cell.execution_count = _count(cell.get("execution_count"))
    if is_autograded(cell) and has_verdict(cell):
        cell.outputs = [_report(output) for output in cell.outputs]
    else:
        sanitized = (_output(output, rooms) for output in cell.outputs)
        cell.outputs = [output for output in sanitized if output is not None]


def _clean_text(cell: NotebookNode, trusted: Container[str], prose: _Room, outputs: _Room) -> None:
    pictures = _pictures(cell.pop("attachments", None), outputs)
    if pictures:
        cell.attachments = pictures
    if cell.cell_type == "raw":
        text = prose.text(cell.source.strip("\n"), sanitize_markdown.MAX_TEXT)
        cell.cell_type, cell.source = "markdown", sanitize_markdown.as_code(text) if text else ""
    elif cell.source not in trusted:
        cell.source = _prose(cell.source, prose, pictures)


def _prose(source: str, room: _Room, pictures: Mapping[str, Mapping[str, str]] | None = None) -> str:
    """Sanitize Markdown, or leave it out if there is no room for it."""
    if room.has(len(source)):
        return sanitize_markdown.cleaned(source, pictures)
    return f"*… left out: {len(source):,} characters of text.*"


# Outputs


def _report(output: NotebookNode) -> NotebookNode:
    """A graded cell's output, written by the grader, without links in formulas."""
    if "text/html" in output.get("data", {}):
        output.data["text/html"] = sanitize_markdown.without_commands(output.data["text/html"])
    return output


def _output(output: Mapping[str, Any], rooms: OutputBudget) -> NotebookNode | None:
    """Sanitize one output; None if nothing remains."""
    kind, room = output.get("output_type"), rooms.outputs
    if kind == "stream":
        name = "stderr" if output.get("name") == "stderr" else "stdout"
        return _build_output("stream", name=name, text=room.text(_text(output.get("text")), MAX_TEXT))
    if kind == "error":
        lines = output.get("traceback")
        trace = room.text("\n".join(map(_text, lines if isinstance(lines, list) else [])), MAX_TEXT)
        name, value = (room.text(_text(output.get(key)), 2_000) for key in ("ename", "evalue"))
        return _build_output("error", ename=one_line(name), evalue=value, traceback=trace.split("\n"))
    if kind not in ("display_data", "execute_result"):
        return None
    data = _data(output.get("data"), rooms)
    if not data:
        return None
    if kind == "execute_result":
        return _build_output(kind, data=data, execution_count=_count(output.get("execution_count")))
    return _build_output(kind, data=data)


def _build_output(kind: str, **fields: Any) -> NotebookNode:
    output: NotebookNode = new_output(kind, **fields)
    return output


def _data(raw: Any, rooms: OutputBudget) -> dict[str, str]:
    """The known formats of an output; a note replaces what is too large."""
    room, found = rooms.outputs, dict[str, str]()
    for mime, value in raw.items() if isinstance(raw, Mapping) else ():
        text = _text(value)
        if mime == "text/plain":
            found[mime] = room.text(text, MAX_TEXT)
        elif mime not in ("text/html", "text/markdown", "text/latex", *SHOWN) or not text:
            continue
        elif not room.has(len(text)) or (mime == "text/html" and not rooms.tags.has(text.count("<") ** 2, MAX_TAGS)):
            note = f"\n… left out: {len(text):,} characters of {mime}"
            found["text/plain"] = found.get("text/plain", "").removesuffix(note) + note
        elif mime in SHOWN:
            found |= {mime: text} if is_picture(mime, text) else {}
        elif mime == "text/html":
            found[mime] = sanitize_markdown.without_commands(sanitize_html.from_html(text))
        else:
            found[mime] = sanitize_markdown.formula(text) if mime == "text/latex" else _prose(text, rooms.prose)
    return found


def is_picture(mime: str, data: str) -> bool:
    """Whether this is only base64, of bytes that begin like such a picture."""
    if mime not in PICTURES or len(data) > MAX_RICH or not BASE64.fullmatch(data):
        return False
    try:
        return base64.b64decode(data[:16].ljust(16, "="), validate=True).startswith(PICTURES[mime])
    except binascii.Error:
        return False


def _pictures(raw: Any, room: _Room) -> dict[str, dict[str, str]]:
    """The attachments that are pictures."""
    found: dict[str, dict[str, str]] = {}
    for name, bundle in raw.items() if isinstance(raw, Mapping) else ():
        for mime, data in bundle.items() if isinstance(bundle, Mapping) else ():
            if isinstance(data, str) and is_picture(mime, data) and room.has(len(data)) and NAME.fullmatch(name):
                found.setdefault(name, {})[mime] = data
    return found


# Metadata


def _metadata_of_cell(metadata: Mapping[str, Any]) -> NotebookNode:
    result: dict[str, Any] = {key: metadata[key] for key in ("deletable", "editable") if metadata.get(key) is False}
    tags = metadata.get("tags")
    if isinstance(tags, list) and (known := [tag for tag in tags if isinstance(tag, str) and NAME.fullmatch(tag)]):
        result["tags"] = known
    marks = metadata.get("nbgrader")
    if isinstance(marks, Mapping):
        result["nbgrader"] = NotebookNode({key: marks[key] for key, kind in MARKS.items() if _is(marks.get(key), kind)})
    return NotebookNode(result)


def _is(value: Any, kind: type) -> bool:
    if kind is str:
        return isinstance(value, str) and NAME.fullmatch(value) is not None
    return isinstance(value, int | float) if kind is float else type(value) is kind


def _metadata_of_notebook(metadata: Mapping[str, Any]) -> NotebookNode:
    """The kernel, the language and our record, without what moves a cursor."""
    return NotebookNode(
        {key: _printable(metadata[key]) for key in ("kernelspec", "language_info", RECORD) if key in metadata}
    )


def _printable(value: Any) -> Any:
    if isinstance(value, str):
        return one_line(value)
    if isinstance(value, Mapping):
        return NotebookNode({one_line(key): _printable(inner) for key, inner in value.items()})
    return [_printable(inner) for inner in value] if isinstance(value, list) else value


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < MAX_COUNT else None


def _text(value: Any) -> str:
    """Join a text that a notebook may hold as a list of lines."""
    lines = value if isinstance(value, list) else [value]
    return "".join(line for line in lines if isinstance(line, str))
