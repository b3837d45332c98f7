"""The records that --json prints are exactly those in docs/json.md.

A small class goes through one term, in which every verb with --json really runs.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook

from grading.cli import main

from ..support.canvas_server import TOKEN, canvas
from ..support.course_builder import TINY_LESSONS, build_course, tiny_lesson
from ..support.repository import ROOT

pytestmark = [
    pytest.mark.filterwarnings("ignore:Canvas may respond unexpectedly:UserWarning"),  # to HTTP on this machine
]

ONE = TINY_LESSONS[0]
SQUARES = "def double(x):\n    return x * x"
TYPES: dict[str, Callable[[Any], bool]] = {
    "text": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "number or null": lambda value: value is None or TYPES["number"](value),
    "true or false": lambda value: isinstance(value, bool),
    "list of text": lambda value: isinstance(value, list) and all(isinstance(one, str) for one in value),
    "list of objects": lambda value: isinstance(value, list) and all(isinstance(one, dict) for one in value),
    "object": lambda value: isinstance(value, dict),
    "anything": lambda value: True,
}


def documented() -> dict[str, dict[str, str]]:
    """Record -> field -> type, from the page."""
    parts = re.split(r"^## (.+)$", (ROOT / "docs" / "json.md").read_text(encoding="utf-8"), flags=re.M)[1:]
    return {
        name: dict(re.findall(r"^\| (\w+) \| ([a-z ]+) \|", part, re.M)[1:])
        for name, part in zip(parts[::2], parts[1::2], strict=True)
    }


def download(path: Path, *names: str) -> str:
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "{}")
    return str(path)


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """Verb -> its records in a class of two. ada is right; bob is wrong and late."""
    folder = tmp_path_factory.mktemp("json")
    root = build_course(folder / "course", submissions={"ada": {}, "bob": {ONE[3:]: SQUARES}}, release=[ONE])
    printed: dict[str, list[dict[str, Any]]] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        patch.setenv("CANVAS_API_TOKEN", TOKEN)
        capture = _Capture(patch)

        def run(*arguments: str, status: int = 0) -> None:
            lines = capture(lambda: main.main([*arguments, "--json"]), status)
            printed.setdefault(arguments[0], []).extend(json.loads(line) for line in lines)

        users = [{"id": 501, "name": "A", "login_id": "ada"}, {"id": 502, "name": "B", "login_id": "bob"}]
        with canvas(users, [{"id": 91, "name": "01 Double", "points_possible": 5.0}]) as there:
            run("settings")
            run("prove", ONE)
            run("release", ONE)
            run("grade", ONE)
            with Gradebook(f"sqlite:///{root}/gradebook.db", "attention") as gradebook:
                gradebook.update_or_create_student("ada", lms_user_id="501")
                gradebook.update_or_create_student("bob", lms_user_id="502")
                gradebook.update_or_create_assignment(ONE, duedate="2026-11-20 23:59:00 UTC")
            (root / "submitted" / "ada" / ONE / "timestamp.txt").write_text("2026-11-21 08:00:00 UTC")
            run("regrade", ONE, "--yes", "--LatePolicy.policy=half")
            run("history")
            run("report")
            run("verify-grades", ONE, "--students", "ada")
            run("feedback", "--students", "ada")
            run("doctor")
            run("publish", str(folder / "students"))
            file = folder / "canvas.csv"
            file.write_text('Student,ID,01 Double (1)\n    Points Possible,,5\n"A",501,\n')
            run("fill-gradebook", str(file))
            come = download(folder / "come.zip", f"ada_501_9001_{ONE}.ipynb", f"stranger_777_9004_{ONE}.ipynb")
            run("feedback-zip", ONE, come, "--out", str(folder / "back.zip"), status=1)
            run("gradebook", str(folder / "all.csv"), "--total", "--scale", "100")
            run("push", "canvas", ONE, "--url", there.url, "--canvas-course", "7")
            run("collect", come, status=1)
            new = build_course(folder / "new", [tiny_lesson(ONE)])
            contract = new / "grader_tests" / ONE / ONE[3:] / "contract.py"
            contract.write_text(contract.read_text().replace("draw.normal(3, 5)", "draw.normal(3, 6)"))
            shutil.copytree(root / "source", folder / "base" / "source")
            shutil.copytree(root / "grader_tests", folder / "base" / "grader_tests")
            run("migrate", str(new), "--base", str(folder / "base"))
            (root / "tests" / "verdicts").mkdir(parents=True)  # a course that keeps verdicts and has none yet
            run("sync", "--check", status=1)
    return printed


class _Capture:
    """Runs a function, and returns the lines that it printed to stdout."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch

    def __call__(self, act: Callable[[], int], status: int) -> list[str]:
        out, err = io.StringIO(), io.StringIO()
        self._patch.setattr("sys.stdout", out)
        self._patch.setattr("sys.stderr", err)
        assert act() == status, out.getvalue() + err.getvalue()
        return out.getvalue().splitlines()


def test_every_record_has_the_documented_fields(records):
    tables = documented()
    for verb, lines in records.items():
        assert lines, verb
        for line in lines:
            fields = tables[line.pop("record")]
            assert set(line) == set(fields), f"{verb}: {line}"
            for name, value in line.items():
                assert TYPES[fields[name]](value), f"{verb}, {name}: {value!r} is no {fields[name]}"
            line["record"] = next(record for record, table in tables.items() if table is fields)


def test_every_documented_record_is_printed_by_its_verbs(records):
    pages = re.split(r"^## (.+)$", (ROOT / "docs" / "json.md").read_text(encoding="utf-8"), flags=re.M)[1:]
    for name, part in zip(pages[::2], pages[1::2], strict=True):
        for verb in re.findall(r"`grading ([a-z-]+)`", part.split("|")[0]):
            assert name in {line["record"] for line in records[verb]}, f"{verb} printed no {name}"


def test_every_verb_with_json_is_documented():
    page = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
    (verbs,) = (one for one in main.make_parser()._actions if isinstance(one, argparse._SubParsersAction))
    for name, verb in verbs.choices.items():
        asks = any("--json" in action.option_strings for action in verb._actions)
        assert asks == (f"`grading {name}`" in page), name


def test_points_are_those_of_the_gradebook(records):
    points = {line["student"]: line["points"] for line in records["report"] if line["record"] == "grade"}
    assert points == {"ada": 2.5, "bob": 0.0}
    (change,) = (line for line in records["regrade"] if line["student"] == "ada")
    assert (change["before"], change["now"], change["penalty_now"]) == (5.0, 2.5, 2.5)
    (row,) = (line for line in records["gradebook"] if line["student"] == "ada")
    assert (row["points"], row["total"], row["out_of"]) == ({ONE: 50.0}, 50.0, 100.0)
