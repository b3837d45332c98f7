"""Reads whatever was handed in under the name of a notebook, and never raises.

What can be read is read: any encoding, nbformat 2 to 4, cells without ids, broken outputs (they are dropped unread,
since grading clears them). What cannot be read becomes a notebook with one markdown cell that says what is wrong and
what to do, and `nb.metadata["attention_course"]["unreadable"]` holds the reason, so that the exercises go to a person
and the other submissions are graded. Nothing of the student's own `attention_course` metadata survives.

Beside the notebook only files that a browser shows and never runs are copied; a student whose name holds what a page
or a terminal would obey is not graded, and told. Which cell belongs to which exercise is not decided here but in
`repair`; what is harmless to open, in `clean`.
"""

from __future__ import annotations

import glob
import json
import os
import re
import stat
from collections.abc import Callable
from itertools import chain, count
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbconvert.exporters.exporter import ResourcesDict
from nbformat.notebooknode import NotebookNode
from nbgrader.converters.base import NbGraderException
from traitlets import Bool, Integer

from course.protocol.packing import writable
from grading.cells import MAX_KEPT, RECORD

KEPT = ("kernelspec", "language_info")  # of a notebook's metadata
KEPT_OF_A_CELL = ("nbgrader", "id", "deletable", "editable")  # of a cell's, beside its tags; Colab has an id there
TAG = re.compile(r"[^,]+")
UNREADABLE = "unreadable"  # the id of the cell that says so
MAX_BYTES = 64 * 2**20
MAX_CELLS = 5_000
MAX_MARKS = 2_000_000  # commas and brackets, which part a file's values; one takes some sixty bytes of memory
BESIDE = (".txt", ".csv", ".tsv", ".png", ".jpg", ".jpeg", ".gif", ".webp")  # of files that the formgrader may show
STRANGE = re.compile(r"""[<>"\\]""")  # what gets out of a text or a string: nbgrader's pages hold names as they are
MAX_DEPTH = 8  # of metadata; nothing that grading uses is deeper than 3
CELL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
CELL_TYPES = {"code": "code", "raw": "raw", "heading": "markdown", "html": "markdown"}
CELL_TYPES |= {"markdown": "markdown", "plaintext": "markdown"}

AGAIN = "Open it in Jupyter or Colab, run it, save it, and hand in the saved file again."
WITHOUT_OUTPUTS = "Clear all outputs (in Jupyter: Edit, Clear Outputs of All Cells), save, and hand it in again."
OTHER_FILES = (
    (b"PK\x03\x04", "a zip archive (or an office document)"),
    (b"%PDF", "a PDF document"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"\x1f\x8b", "a compressed archive"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"<!doctype", "a web page"),
    (b"<html", "a web page"),
    (b"{\\rtf", "a text document"),
)


class Unreadable(Exception):
    """The file is no notebook that can be read; `args[0]` says why and what to do, in sentences."""


class SubmissionExporter(NotebookExporter):
    """The exporter of `nbgrader autograde`: as nbconvert's, but it reads what students really hand in."""

    max_bytes = Integer(MAX_BYTES, help="A notebook file larger than this is not read but left to a person.").tag(
        config=True
    )

    # What a student's kernel sends may be no notebook until the last preprocessor has cleaned it
    optimistic_validation = Bool(True).tag(config=True)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[no-untyped-call]  # nbconvert's has no annotations
        self._leave_out_strange_names()
        self._leave_out_files()

    def from_filename(  # type: ignore[override]  # as nbconvert's own NotebookExporter returns
        self, filename: str, resources: dict[str, Any] | None = None, **kw: Any
    ) -> tuple[str, dict[str, Any]]:
        resources = ResourcesDict() if resources is None else resources
        if self._was_written_by_nbgrader(filename, resources):
            return super().from_filename(filename, resources, **kw)  # type: ignore[return-value]
        nb = read_submission(filename, self.max_bytes)
        resources[RECORD] = nb.metadata[RECORD]
        if "unreadable" in nb.metadata[RECORD]:
            self.log.warning("%s: %s", one_line(filename), nb.metadata[RECORD]["unreadable"])
        folder, name = os.path.split(filename)
        resources["metadata"] = ResourcesDict(name=os.path.splitext(name)[0], path=folder)
        # nbconvert wraps it in a decorator without types
        output: tuple[str, dict[str, Any]] = self.from_notebook_node(nb, resources, **kw)  # type: ignore[no-untyped-call]
        return output

    def _was_written_by_nbgrader(self, filename: str, resources: dict[str, Any]) -> bool:
        """Autograde reads twice: what was handed in, then what it made of that, which is sound and keeps its record."""
        coursedir, ids = getattr(self.parent, "coursedir", None), resources.get("nbgrader")
        if coursedir is None or not ids:
            return False
        step = coursedir.autograded_directory
        folder: str = coursedir.format_path(step, ids["student"], ids["assignment"])
        return os.path.abspath(os.path.dirname(filename)) == os.path.abspath(folder)

    def _leave_out_strange_names(self) -> None:
        """Have nbgrader pass over submissions under names that its pages would take for HTML.

        Raises NbGraderException where no other is left. The exporter is made after the submissions were listed and
        before any is graded, so that such a name never reaches the gradebook.
        """
        converter: Any = self.parent
        found: dict[str, list[str]] = getattr(converter, "assignments", None) or {}
        if not found:
            return
        place = converter._format_source("(?P<assignment>.*)", "(?P<student>.*)", escape=True)
        names = {folder: matched["student"] for folder in found if (matched := re.match(place, folder))}
        for folder, name in names.items():
            if STRANGE.search(name) or not name.isprintable():
                del found[folder]
                self.log.error("%s: the name holds what no page can show; rename the folder.", one_line(folder))
        if not found:
            raise NbGraderException("Nothing was graded.")

    def _leave_out_files(self) -> None:
        """Have nbgrader ignore, beside the notebook, links out of a submission and what may run where it is opened.

        nbgrader copies what stands beside a notebook, follows links, and serves it all from the teacher's own server:
        it would copy any file of the grader's, stop at a link that leads nowhere, never end at a pipe, and run a page.
        The exporter is made after the submissions were listed and before anything is copied.
        """
        coursedir = getattr(self.parent, "coursedir", None)
        for folder in getattr(self.parent, "assignments", None) or ():
            for place, _, names in os.walk(folder):
                for name in names:
                    path, kind = os.path.join(place, name), os.path.splitext(name)[1].lower()
                    if not _is_file_within(path, folder):
                        why = "a link out of the submission"
                    elif kind not in (*BESIDE, ".ipynb"):
                        why = "a file of a kind that may run where it is opened"
                    else:
                        continue
                    if coursedir is not None:
                        self.log.warning("%s is left out: %s", one_line(path), why)
                        coursedir.ignore = [*coursedir.ignore, glob.escape(path)]


def read_submission(path: str | os.PathLike[str], max_bytes: int = MAX_BYTES) -> NotebookNode:
    """The notebook at `path` as valid nbformat 4.5 without outputs; its metadata holds the record (see above)."""
    repairs: list[str] = []
    try:
        content = _parse(_bytes_of(os.fspath(path), max_bytes), repairs)
        cells = _cells_of(content, repairs)
    except Unreadable as reason:
        return unreadable_notebook(str(reason))
    metadata = _as_dict(content.get("metadata"))
    kept: dict[str, Any] = {key: plain(metadata[key], text=one_line) for key in KEPT if key in metadata}
    return _notebook(cells, {**kept, RECORD: {"repairs": repairs}})


def unreadable_notebook(reason: str) -> NotebookNode:
    """A notebook that says why there is no other."""
    text = (
        "**This notebook could not be read, so nothing in it was graded.**\n\n"
        f"{reason}\n\nA person will look at it. Until then its points are open: neither given nor lost."
    )
    cell = {"cell_type": "markdown", "id": UNREADABLE, "metadata": {}, "source": text}
    return _notebook([cell], {RECORD: {"repairs": [], "unreadable": reason}})


def _notebook(cells: list[dict[str, Any]], metadata: dict[str, Any]) -> NotebookNode:
    version = {"nbformat": 4, "nbformat_minor": 5}
    made: NotebookNode = nbformat.from_dict({**version, "metadata": metadata, "cells": cells})
    return made


def _is_file_within(path: str, folder: str) -> bool:
    """Whether `path` is an ordinary file whose real place is in `folder`."""
    real, home = os.path.realpath(path), os.path.realpath(folder)
    return real.startswith(home + os.sep) and os.path.isfile(real)


def _bytes_of(path: str, max_bytes: int) -> bytes:
    try:
        if os.path.isdir(path) and not os.path.islink(path):
            raise Unreadable(f"What was handed in under this name is a folder, not a file. {AGAIN}")
        if os.path.islink(path) and not _is_file_within(path, os.path.dirname(path)):
            raise Unreadable(
                "What was handed in is a link to a file somewhere else, not the file. Hand in the notebook itself."
            )
        about = os.stat(path)
        if not stat.S_ISREG(about.st_mode):
            raise Unreadable(f"What was handed in is no ordinary file. {AGAIN}")
        if about.st_size > max_bytes:
            raise Unreadable(f"The file is very large: {about.st_size / 1e6:.0f} MB. {WITHOUT_OUTPUTS}")
        with open(path, "rb") as file:
            return file.read(about.st_size)  # a buffer is made of as many bytes as are asked for
    except OSError as error:
        raise Unreadable(f"The file could not be opened ({error.strerror}). {AGAIN}") from error


def _parse(data: bytes, repairs: list[str]) -> dict[str, Any]:
    if not data.strip(b"\0 \t\r\n"):
        raise Unreadable(f"The file is empty. {AGAIN}")
    if (marks := sum(map(data.count, (b",", b"[", b"{")))) > MAX_MARKS:
        raise Unreadable(f"The file is very large: it holds {marks:,} values. {WITHOUT_OUTPUTS}")
    text = _decode(data, repairs).strip("\0 \t\r\n")
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise Unreadable(_why_not_json(data, text, error)) from error
    except (RecursionError, ValueError) as error:
        raise Unreadable(f"The file is no notebook: its content is nested or long beyond use. {AGAIN}") from error
    if not isinstance(content, dict):
        raise Unreadable(f"The file is no notebook: it is JSON, but has no cells. {AGAIN}")
    return content


def _decode(data: bytes, repairs: list[str]) -> str:
    encoding: str = json.detect_encoding(data)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        encoding, text = "Windows or Latin-1", data.decode("latin-1")
    if not encoding.startswith("utf-8"):
        repairs.append(
            f"The file was not saved as UTF-8 but, it seems, as {encoding}; letters with accents may look wrong."
        )
    return text


def _why_not_json(data: bytes, text: str, error: json.JSONDecodeError) -> str:
    start = data.removeprefix(b"\xef\xbb\xbf").lstrip()[:16].lower()
    for beginning, what in OTHER_FILES:
        if start.startswith(beginning.lower()):
            return f"The file is no notebook but {what}. Hand in the file that ends in .ipynb."
    if not text.startswith("{"):
        return f"The file is no notebook: a notebook is JSON and begins with a brace. {AGAIN}"
    if re.search(r"^<{7} ", text, re.MULTILINE):
        return (
            "The file holds the marks of an unresolved merge (<<<<<<<), so it is no notebook any more. "
            "Choose one of the two versions, check that it opens, and hand it in again."
        )
    rest = text[error.pos :]  # of a word or number that was cut in two, a few letters
    if error.msg.startswith("Unterminated") or not rest or (len(rest) <= 6 and rest[-1] != "}"):
        return f"The file is cut off: it ends in the middle, at line {text.count(chr(10)) + 1}. {AGAIN}"
    return f"The file is damaged: it is not valid JSON from line {error.lineno} on. {AGAIN}"


def _cells_of(content: dict[str, Any], repairs: list[str]) -> list[dict[str, Any]]:
    """The cells, each with what grading needs and nothing that could be malformed."""
    raw = content.get("cells")
    if raw is None and isinstance(content.get("worksheets"), list):  # nbformat 2 and 3
        raw = [
            cell
            for sheet in content["worksheets"]
            if isinstance(sheet, dict) and isinstance(sheet.get("cells"), list)
            for cell in sheet["cells"]
        ]
        repairs.append("The notebook was saved in an old format; it was converted.")
    if not isinstance(raw, list):
        raise Unreadable(f"The file is no notebook: it is JSON, but has no cells. {AGAIN}")
    if len(raw) > MAX_CELLS:
        raise Unreadable(f"The notebook has {len(raw):,} cells, which is more than can be graded. {AGAIN}")
    found = [cell for cell in raw if isinstance(cell, dict)]
    if len(found) < len(raw):
        repairs.append(f"Entries that are no cells were left out: {len(raw) - len(found)}.")
    taken: set[str] = set()
    cells = [_cell(cell, number, taken) for number, cell in enumerate(found, 1)]
    code = sum(len(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    if code > MAX_KEPT:  # what is kept is read once, however many exercises there are
        raise Unreadable(
            f"The notebook holds {code:,} characters of code, more than can be graded. "
            "Take out what was pasted into it, such as data, and hand it in again."
        )
    return cells


def _cell(raw: dict[str, Any], number: int, taken: set[str]) -> dict[str, Any]:
    stated = raw.get("cell_type")
    kind = CELL_TYPES.get(stated if isinstance(stated, str) else "", "raw")
    source = _text(raw.get("source", raw.get("input", "")))
    if stated == "heading":
        level = raw.get("level")
        source = "#" * (level if isinstance(level, int) and 1 <= level <= 6 else 1) + " " + source
    cell = {
        "cell_type": kind,
        "id": _free_id(raw.get("id"), f"cell-{number}", taken),
        "metadata": _metadata(_as_dict(raw.get("metadata"))),
        "source": source,
    }
    if kind == "code":
        return {**cell, "execution_count": None, "outputs": []}
    attachments = _attachments(raw.get("attachments"))
    return {**cell, "attachments": attachments} if attachments else cell


def _metadata(raw: dict[str, Any]) -> dict[str, Any]:
    """What grading looks at; of other keys the format prescribes what they hold, and they may hold something else."""
    kept: dict[str, Any] = {key: plain(raw[key], text=one_line) for key in KEPT_OF_A_CELL if key in raw}
    if isinstance(tags := raw.get("tags"), list):
        kept["tags"] = list(dict.fromkeys(one_line(tag) for tag in tags if isinstance(tag, str) and TAG.fullmatch(tag)))
    return kept


def _free_id(wanted: Any, otherwise: str, taken: set[str]) -> str:
    valid = isinstance(wanted, str) and CELL_ID.fullmatch(wanted)
    names = chain([wanted] if valid else [], [otherwise], (f"{otherwise}-{n}" for n in count(2)))
    name: str = next(name for name in names if name not in taken)
    taken.add(name)
    return name


def _attachments(raw: Any) -> dict[str, dict[str, str]]:
    return {
        writable(name): {writable(kind): _text(data) for kind, data in bundle.items()}
        for name, bundle in _as_dict(raw).items()
        if isinstance(bundle, dict) and bundle
    }


def _text(value: Any) -> str:
    """A text, which a notebook may hold as a list of lines."""
    lines = value if isinstance(value, list) else [value]
    text = "".join(line for line in lines if isinstance(line, str))
    return writable(text.replace("\r\n", "\n").replace("\r", "\n"))


def plain(value: Any, depth: int = MAX_DEPTH, text: Callable[[str], str] = writable) -> Any:
    """A copy of JSON data that can be copied, compared and written again, whatever it was. text: for its texts."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, dict):
        return {text(k): plain(v, depth - 1, text) for k, v in value.items()} if depth else {}
    if isinstance(value, list):
        return [plain(item, depth - 1, text) for item in value] if depth else []
    return value


def one_line(text: str) -> str:
    """The text without what moves a terminal's cursor, ends a line of a log, or turns the direction of writing."""
    return text if text.isprintable() else "".join(c if c.isprintable() else "\ufffd" for c in text)


def _as_dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
