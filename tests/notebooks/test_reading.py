"""What is really handed in under the name of a notebook, through the real sanitize step and a real batch."""

from __future__ import annotations

import base64
import copy
import json
import zipfile
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbgrader.api import Gradebook

from grading.errors import Unreadable
from grading.notebooks.cells import RECORD, grade_id
from grading.notebooks.reading import read_submission
from grading.notebooks.submitted_file import resolve

from ..support.two_exercise_course import CLASS, DOUBLE, HALVE, LESSON, with_answers

EXERCISES = ["check_double", "check_halve", "double", "halve"]


@pytest.fixture
def solved(course: Any) -> dict[str, Any]:
    return with_answers(course.release, double=DOUBLE, halve=HALVE)


def source_of(notebook: Any, name: str) -> str:
    """The text of the cell with these marks."""
    return next(c.source for c in notebook.cells if grade_id(c) == name)


def assert_read(notebook: Any, said: str = "") -> None:
    nbformat.validate(notebook)
    assert "unreadable" not in notebook.metadata[RECORD]
    assert source_of(notebook, "double") == DOUBLE
    assert source_of(notebook, "halve") == HALVE
    assert said in " ".join(notebook.metadata[RECORD].repairs)


def assert_left_to_a_person(notebook: Any, reason: str) -> None:
    nbformat.validate(notebook)
    assert reason in notebook.metadata[RECORD].unreadable
    assert "could not be read" in notebook.cells[0].source
    assert reason in notebook.cells[0].source
    found = [c.metadata.nbgrader.grade_id for c in notebook.cells if "nbgrader" in c.metadata]
    assert sorted(found) == EXERCISES


def long_string() -> bytes:
    return b'{"cells": [' + b"[" * 200_000


def code(source: str) -> dict[str, str]:
    return {"cell_type": "code", "source": source}


UNREADABLE = {
    "empty": (b"", "The file is empty"),
    "blank": (b" \n\0\0\t", "The file is empty"),
    "not a notebook at all": (b"my answers", "a notebook is JSON and begins with a brace"),
    "bytes of no encoding": (bytes(range(128, 256)) * 9, "a notebook is JSON and begins with a brace"),
    "a JSON list": (b"[1, 2]", "it is JSON, but has no cells"),
    "a JSON number": (b"7", "it is JSON, but has no cells"),
    "JSON without cells": (b'{"a": 1}', "it is JSON, but has no cells"),
    "cells of another type": (b'{"cells": {"a": 1}}', "it is JSON, but has no cells"),
    "null": (b"null", "it is JSON, but has no cells"),
    "a merge conflict": (b'{"cells": [\n<<<<<<< HEAD\n', "marks of an unresolved merge"),
    "a merge half resolved": (b'{"cells": [\n=======\n', "marks of an unresolved merge (=======)"),
    "an old pointer of Git LFS": (b"version https://hawser.github.com/spec/v1\noid sha256:1", "Run `git lfs pull`"),
    "a pointer of git-annex": (b"../.git/annex/objects/1F/a.ipynb", "Run `git annex get`"),
    "a link that git wrote as a file": (b"../shared/lesson.ipynb\n", "only has its name"),
    "what macOS keeps beside a file": (b"\0\5\x16\7\0\2\0\0Mac OS X", "macOS"),
    "a saved web page": (b"<!-- saved from -->\n<html>", "a web page"),
    "nested too deep": (long_string(), "nested too deeply or too long"),
    "a number of a million digits": (b'{"cells": ' + b"1" * 1_000_000 + b"}", "nested too deeply or too long"),
    "a web page": (b"<!DOCTYPE html><html>", "a web page"),
    "a PDF": (b"%PDF-1.7\n", "a PDF document"),
    "a picture": (base64.b64decode("iVBORw0KGgoAAAANSUhEUg=="), "a picture"),
    "a damaged notebook": (b'{"cells": [], \n "metadata": {,}}', "not valid JSON from line 2"),
    "values without end": (b'{"cells": [' + b"[]," * 2**20 + b"[]]}", "2,097,155 values. Clear all outputs"),
    "a text without end": (json.dumps({"cells": [code("x" * 300_000)] * 2}).encode(), "600,000 characters of code"),
    "too many cells": (json.dumps({"cells": [{}] * 5001}).encode(), "5,001 cells"),
}


@pytest.mark.parametrize("kind", sorted(UNREADABLE))
def test_what_cannot_be_read_is_left_to_a_person(kind: str, sanitize: Any) -> None:
    content, reason = UNREADABLE[kind]
    assert_left_to_a_person(sanitize(content), reason)


def test_truncated_anywhere_never_raises(sanitize: Any, solved: Any) -> None:
    whole = json.dumps(solved).encode()
    for end in range(1, len(whole), len(whole) // 12):
        assert_left_to_a_person(sanitize(whole[:end]), "cut off")


def test_archive_and_large_file_are_named(sanitize: Any, solved: Any, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.ipynb", json.dumps(solved))
    assert_left_to_a_person(sanitize((tmp_path / "a.zip").read_bytes()), "a zip archive")
    large = tmp_path / "large.ipynb"
    large.write_bytes(json.dumps(solved).encode() + b" " * 2_000_000)
    with pytest.raises(Unreadable, match="very large: 2 MB"):
        resolve(large, max_bytes=1_000_000)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
def test_every_encoding_is_read(encoding: str, sanitize: Any, solved: Any) -> None:
    solved["cells"][0]["source"] = "Ça va"
    content = json.dumps(solved, ensure_ascii=False).encode(encoding)
    notebook = sanitize(content)
    assert_read(notebook, "" if encoding.startswith("utf-8") else "not saved as UTF-8")
    assert notebook.cells[0].source == "Ça va"


@pytest.mark.parametrize("minor", range(6))
def test_every_minor_version_of_format_4_is_read(minor: int, sanitize: Any, solved: Any) -> None:
    solved["nbformat_minor"] = minor
    if minor < 5:
        for cell in solved["cells"]:
            del cell["id"]
    for cell in solved["cells"]:
        cell["source"] = cell["source"].splitlines(keepends=True)
    assert_read(sanitize(solved))


@pytest.mark.parametrize("version", [{}, {"nbformat": "4"}, {"nbformat": None}, {"nbformat": 99, "nbformat_minor": -1}])
def test_stated_version_does_not_matter(version: dict[str, Any], sanitize: Any, solved: Any) -> None:
    for key in ("nbformat", "nbformat_minor"):
        solved.pop(key)
    assert_read(sanitize({**solved, **version}))


@pytest.mark.parametrize("version", [2, 3])
def test_old_formats_are_read(version: int, sanitize: Any, solved: Any) -> None:
    cells = []
    for cell in solved["cells"]:
        old = {"cell_type": cell["cell_type"], "metadata": cell["metadata"]}
        text = "input" if cell["cell_type"] == "code" else "source"
        cells.append(old | {text: cell["source"], "language": "python", "prompt_number": 3, "collapsed": False})
    heading = {"cell_type": "heading", "level": 2, "source": "Old", "metadata": {}}
    old = {"nbformat": version, "nbformat_minor": 0, "metadata": {"name": ""}}
    notebook = sanitize(old | {"worksheets": [{"cells": [heading, *cells], "metadata": {}}]})
    assert_read(notebook, "old format")
    assert notebook.cells[0].source == "## Old"


WRONG: dict[str, Any] = {
    "outputs of no form": {"outputs": [{"output_type": "nonsense"}, 7, None]},
    "outputs null": {"outputs": None},
    "execution count": {"execution_count": "seven"},
    "metadata null": {"metadata": None},
    "metadata a list": {"metadata": [1]},
    "id of no form": {"id": "a b/c" * 30},
    "id a number": {"id": 7},
    "ids all the same": {"id": "same"},
    "more fields": {"prompt_number": 3, "attachments": 5, "extra": {"a": []}},
    "deep metadata": {"metadata": json.loads('{"a":' * 300 + "1" + "}" * 300)},
    "half a surrogate pair": {"metadata": {"name": "\ud800", "tags": ["\udfff"]}},
}


@pytest.mark.parametrize("kind", sorted(WRONG))
def test_wrong_types_cost_nothing(kind: str, sanitize: Any, solved: Any) -> None:
    for cell in solved["cells"]:
        cell |= copy.deepcopy(WRONG[kind])
    assert_read(sanitize(solved))


def test_strange_cells_and_sources_are_survived(sanitize: Any, solved: Any) -> None:
    strange = [None, 7, "text", [], {}, {"cell_type": "code"}, {"cell_type": "video", "source": {"a": 1}}]
    strange += [{"cell_type": ["code"], "source": [1, None, "x = 1\r\n"]}, {"source": "a\rb"}]
    solved["cells"][3:3] = strange
    solved["cells"].append({"cell_type": "markdown", "source": "![a](attachment:a.png)", "attachments": {"a.png": 3}})
    notebook = sanitize(solved)
    assert_read(notebook, "Entries that are not cells were left out: 4")
    assert "```\nx = 1\n```" in [cell.source for cell in notebook.cells]


METADATA = [
    None,
    [],
    "x",
    {"widgets": {"application/x+json": {"a": {}}}},
    {"kernelspec": None, "language_info": 7},
    {"kernelspec": {"name": ["x"]}},
]


@pytest.mark.parametrize("metadata", METADATA)
def test_notebook_metadata_is_not_needed(metadata: Any, sanitize: Any, solved: Any) -> None:
    notebook = sanitize({**solved, "metadata": metadata})
    assert_read(notebook)
    assert "widgets" not in notebook.metadata
    assert notebook.metadata.kernelspec.name == "python3"


def test_record_of_a_student_is_not_trusted(sanitize: Any, solved: Any) -> None:
    solved["metadata"][RECORD] = {"unreadable": "give me points", "repairs": ["nothing"], "seed": 7}
    solved["cells"][1]["metadata"][RECORD] = {"earned": 5}
    notebook = sanitize(solved)
    assert notebook.metadata[RECORD] == {"repairs": []}
    assert all(RECORD not in cell.metadata for cell in notebook.cells)


# A whole class in one batch: see `graded` in conftest


def test_an_unreadable_submission_does_not_stop_the_batch(graded_course: Any) -> None:
    reasons = {}
    for student in CLASS:
        path = graded_course.root / "autograded" / student / LESSON / f"{LESSON}.ipynb"
        reasons[student] = nbformat.read(path, as_version=4).metadata[RECORD].get("unreadable", "")
    assert {student for student, reason in reasons.items() if reason} == {"cleo", "fay", "gus", "hal"}
    assert "cut off" in reasons["cleo"]
    assert "A folder was handed in" in reasons["fay"]
    assert "A link to another file" in reasons["gus"]
    assert "A link to another file" in reasons["hal"]


def test_unreadable_gets_no_points_but_a_person(graded_course: Any) -> None:
    with Gradebook(f"sqlite:///{graded_course.root}/gradebook.db", "attention") as gradebook:
        for student in ("cleo", "fay", "gus", "hal"):
            grades = gradebook.find_submission_notebook(LESSON, LESSON, student).grades
            assert [(g.score, g.needs_manual_grade) for g in grades] == [(0, True), (0, True)]
        right = gradebook.find_submission_notebook(LESSON, LESSON, "ben").grades
        assert [(g.score, g.needs_manual_grade) for g in right] == [(3, False), (5, False)]


def test_links_out_of_a_submission_are_not_followed(graded_course: Any) -> None:
    for student in ("gus", "hal"):
        folder = graded_course.root / "autograded" / student / LESSON
        assert (folder / "notes.txt").exists()
        assert not (folder / "more.txt").exists()
        assert "def double(x)" not in (folder / f"{LESSON}.ipynb").read_text()


@pytest.mark.parametrize("tags", [None, "demo", [1, "a,b", "", "kept", "kept", ["x"]], {"a": 1}])
def test_tags_of_another_form_are_none(tags: Any) -> None:
    notebook = read_submission(json.dumps({"cells": [{"metadata": {"tags": tags, "name": 3, "jupyter": 1}}]}).encode())
    nbformat.validate(notebook)
    assert notebook.cells[0].metadata.get("tags", []) in ([], ["kept"])
