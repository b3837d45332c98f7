"""Read whatever was submitted as a notebook, without raising.

It reads any encoding, nbformat 2 to 4, cells without ids, and broken outputs (dropped unread, because grading clears
them). A file that cannot be read becomes a notebook with one Markdown cell that says what is wrong and what to do, and
`nb.metadata["attention_course"]["unreadable"]` holds the reason, so that its exercises go to a person and the other
submissions are graded. None of the student's own `attention_course` metadata survives.

A judge runs it. `submitted_file` finds the file, `repair` assigns cells to exercises, `sanitize` makes them safe.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import chain, count
from typing import Any

from nbformat.notebooknode import NotebookNode

from course.harness.serialization import without_surrogates
from grading.errors import Unreadable
from grading.grader.cell_code import MAX_KEPT, parse
from grading.notebooks.cells import RECORD
from grading.safe_text import one_line

from .script_export import exported_cells
from .submitted_file import AGAIN, WITHOUT_OUTPUTS, make_notebook, unreadable_notebook
from .written_answers import LINE, STUB

KEPT = ("kernelspec", "language_info")  # of a notebook's metadata
KEPT_OF_A_CELL = ("nbgrader", "id", "deletable", "editable")  # of a cell's, besides its tags; Colab stores an id there
TAG = re.compile(r"[^,]+")
MAX_CELLS = 5_000
MAX_MARKS = 2_000_000  # commas and brackets, which separate values; a value takes some sixty bytes of memory
MAX_DEPTH = 8  # of metadata; grading uses at most 3
CELL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
CELL_TYPES = {"code": "code", "raw": "raw", "heading": "markdown", "html": "markdown"}
CELL_TYPES |= {"markdown": "markdown", "plaintext": "markdown"}
OTHER_FILES = (
    (b"PK\x03\x04", "a zip archive (or an office document)"),
    (b"%PDF", "a PDF document"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"\x1f\x8b", "a compressed archive"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"<!doctype", "a web page"),
    (b"<html", "a web page"),
    (b"<head", "a web page"),
    (b"<!--", "a web page"),
    (b"<?xml", "an XML document"),
    (b"{\\rtf", "a text document"),
    (b"\xd0\xcf\x11\xe0", "an office document"),
    (b"GIF8", "a picture"),
    (b"Rar!", "a compressed archive"),
    (b"7z\xbc\xaf'\x1c", "a compressed archive"),
    (b"BZh", "a compressed archive"),
    (b"\xfd7zXZ", "a compressed archive"),
    (b"[InternetShortcut]", "a shortcut to a web page"),
    (b"L\0\0\0\x01\x14\x02\0", "a shortcut to a file"),
    (b"bplist00", "a shortcut to a file"),
    (b"SQLite format 3", "a database"),
    (b"\0\x05\x16\x07", "what macOS keeps beside a file (its name begins with `._`)"),
    (b"404: Not Found", "what a server answers that does not find a file"),
)
# What git stores instead of a large file
POINTERS = {
    re.compile(r"version https?://(?:git-lfs|hawser|git-media)\."): "git lfs pull",
    re.compile(r"\S*/annex/objects/"): "git annex get",
}
LINK = re.compile(r"[^\n{}]{1,300}\.ipynb\s*")  # git's file for a symbolic link, on systems without links
MERGE = re.compile(r"^(?:<{7} |\|{7}(?: |$)|={7}$|>{7} )", re.MULTILINE)
MAX_WRAPPED = 3  # how often a notebook may be wrapped as text in JSON


def read_submission(data: bytes) -> NotebookNode:
    """Read a file's bytes as valid nbformat 4.5, without outputs."""
    repairs: list[str] = []
    try:
        content = _parse(data, repairs)
        cells = _cells_of(content, repairs)
    except Unreadable as reason:
        return unreadable_notebook(str(reason))
    metadata = _as_dict(content.get("metadata"))
    result: dict[str, Any] = {key: plain(metadata[key], text=one_line) for key in KEPT if key in metadata}
    return make_notebook(cells, {**result, RECORD: {"repairs": repairs}})


def _parse(data: bytes, repairs: list[str]) -> dict[str, Any]:
    if not data.strip(b"\0 \t\r\n"):
        raise Unreadable(f"The file is empty. {AGAIN}")
    if (marks := sum(map(data.count, (b",", b"[", b"{")))) > MAX_MARKS:
        raise Unreadable(f"The file is very large: it holds {marks:,} values. {WITHOUT_OUTPUTS}")
    text = _decode(data, repairs).strip("\0 \t\r\n")
    if not text.startswith("{") and (exported := exported_cells(text)) is not None:
        repairs.append("It was not a notebook but a Python or Markdown file; its cells were taken from it.")
        return {"cells": exported}
    try:
        content = _unwrapped(json.loads(text), repairs)
    except json.JSONDecodeError as error:
        raise Unreadable(_why_not_json(data, text, error)) from error
    except (RecursionError, ValueError) as error:
        raise Unreadable(
            f"The file is not a notebook: its content is nested too deeply or too long. {AGAIN}"
        ) from error
    if not isinstance(content, dict):
        raise Unreadable(f"The file is not a notebook: it is JSON, but has no cells. {AGAIN}")
    return content


def _unwrapped(content: Any, repairs: list[str]) -> Any:
    """Unwrap a notebook that is text within JSON, or a response of Jupyter's server."""
    for _ in range(MAX_WRAPPED):
        if isinstance(content, dict) and "cells" not in content and content.get("type") == "notebook":
            content = content.get("content")
        elif isinstance(content, str) and content.lstrip().startswith(("{", '"')):
            content = json.loads(content)
        else:
            break
        if not any("within JSON" in repair for repair in repairs):
            repairs.append("The notebook was saved as a text within JSON; it was unpacked.")
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
    start = data.removeprefix(b"\xef\xbb\xbf").lstrip()[:32].lower()
    for pointer, command in POINTERS.items():
        if pointer.match(text):
            return (
                f"The file is not the notebook but git's pointer to it. Run `{command}` in the repository, "
                "check that the notebook opens, and hand it in again."
            )
    for beginning, what in OTHER_FILES:
        if start.startswith(beginning.lower()):
            return f"The file is not a notebook but {what}. Hand in the file that ends in .ipynb."
    if LINK.fullmatch(text):
        return f"The file is not the notebook but only has its name: `{one_line(text)}`. Hand in that file."
    if mark := MERGE.search(text):
        return (
            f"The file has marks of an unresolved merge ({mark[0].strip()}), so it is not a notebook any "
            "more. Choose one of the two versions, check that it opens, and hand it in again."
        )
    if not text.startswith("{"):
        return f"The file is not a notebook: a notebook is JSON and begins with a brace. {AGAIN}"
    rest = text[error.pos :]  # a few letters, if a word or number was cut in two
    if error.msg.startswith("Unterminated") or not rest or (len(rest) <= 6 and rest[-1] != "}"):
        return f"The file is cut off at line {text.count(chr(10)) + 1}. {AGAIN}"
    return f"The file is damaged: it is not valid JSON from line {error.lineno} on. {AGAIN}"


def _cells_of(content: dict[str, Any], repairs: list[str]) -> list[dict[str, Any]]:
    """The cells, each with what grading needs and nothing that may be malformed."""
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
        raise Unreadable(f"The file is not a notebook: it is JSON, but has no cells. {AGAIN}")
    found = [cell for cell in raw if isinstance(cell, dict)]
    if len(found) < len(raw):
        repairs.append(f"Entries that are not cells were left out: {len(raw) - len(found)}.")
    taken: set[str] = set()
    found = [cell for pasted in found for cell in _unpacked(pasted, repairs)]
    if len(found) > MAX_CELLS:
        raise Unreadable(f"The notebook has {len(found):,} cells, which is more than can be graded. {AGAIN}")
    cells = [_cell(cell, number, taken) for number, cell in enumerate(found, 1)]
    for cell in cells:
        if (once := _undoubled(cell["source"], cell["cell_type"])) != cell["source"]:
            cell["source"] = once
            _note(repairs, "The text of a cell was in it several times in a row; it is read once.")
    code = sum(len(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    if code > MAX_KEPT:  # up to this size, code is parsed once for all exercises
        raise Unreadable(
            f"The notebook has {code:,} characters of code, which is more than can be graded. Take out "
            "pasted data and the like, and hand it in again."
        )
    return cells


def _note(repairs: list[str], sentence: str) -> None:
    if sentence not in repairs:
        repairs.append(sentence)


def _unpacked(raw: dict[str, Any], repairs: list[str]) -> list[dict[str, Any]]:
    """The cells that were pasted as JSON into one, in its place."""
    text = _text(raw.get("source", raw.get("input", ""))).strip()
    if text[:1] not in ("{", "[") or '"cell_type"' not in text or len(text) > MAX_KEPT:
        return [raw]
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return [raw]
    pasted = content.get("cells", [content]) if isinstance(content, dict) else content
    if not (isinstance(pasted, list) and pasted and all(isinstance(c, dict) and "cell_type" in c for c in pasted)):
        return [raw]
    if not any("nbgrader" in _as_dict(cell.get("metadata")) for cell in pasted):
        place = {key: raw[key] for key in ("id", "metadata") if key in raw}
        pasted = [{**pasted[0], **place}, *pasted[1:]]
    _note(repairs, "Cells that were pasted as JSON into another cell were unpacked.")
    return pasted


def _undoubled(source: str, kind: str) -> str:
    """A text that a front end wrote several times in a row, once; code only if Python cannot read the whole."""
    for text in (source, source.rstrip("\n") + "\n"):
        once = text[: (text + text).find(text, 1)] if text else ""
        if len(STUB) <= len(once) < len(text):
            if kind == "code" and not LINE.match(source):
                return once if parse(source) is None and parse(once) is not None else source
            return once.rstrip("\n")
    return source


def _cell(raw: dict[str, Any], number: int, taken: set[str]) -> dict[str, Any]:
    raw_type = raw.get("cell_type")
    kind = CELL_TYPES.get(raw_type if isinstance(raw_type, str) else "", "raw")
    source = _text(raw.get("source", raw.get("input", "")))
    if raw_type == "heading":
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
    """The keys that grading uses; other keys may hold values that the format forbids."""
    result: dict[str, Any] = {key: plain(raw[key], text=one_line) for key in KEPT_OF_A_CELL if key in raw}
    if isinstance(tags := raw.get("tags"), list):
        result["tags"] = list(
            dict.fromkeys(one_line(tag) for tag in tags if isinstance(tag, str) and TAG.fullmatch(tag))
        )
    return result


def _free_id(wanted: Any, fallback: str, taken: set[str]) -> str:
    valid = isinstance(wanted, str) and CELL_ID.fullmatch(wanted)
    names = chain([wanted] if valid else [], [fallback], (f"{fallback}-{n}" for n in count(2)))
    name: str = next(name for name in names if name not in taken)
    taken.add(name)
    return name


def _attachments(raw: Any) -> dict[str, dict[str, str]]:
    return {
        without_surrogates(name): {without_surrogates(kind): _text(data) for kind, data in bundle.items()}
        for name, bundle in _as_dict(raw).items()
        if isinstance(bundle, dict) and bundle
    }


def _text(value: Any) -> str:
    """Join a text that a notebook may hold as a list of lines."""
    lines = value if isinstance(value, list) else [value]
    text = "".join(line for line in lines if isinstance(line, str))
    return without_surrogates(text.replace("\r\n", "\n").replace("\r", "\n"))


def plain(value: Any, depth: int = MAX_DEPTH, text: Callable[[str], str] = without_surrogates) -> Any:
    """Copy JSON data so that it is safe to handle. text: applied to its texts."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, dict):
        return {text(k): plain(v, depth - 1, text) for k, v in value.items()} if depth else {}
    if isinstance(value, list):
        return [plain(item, depth - 1, text) for item in value] if depth else []
    return value


def _as_dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
