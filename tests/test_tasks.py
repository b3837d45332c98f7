"""CONTRIBUTING.md says which file to open for which task: each is there, and has what the row tells you to look for."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

from .support.repository import ROOT

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
TABLE = PAGE.partition("## To do X, open Y\n")[2].partition("\n## ")[0]
ROWS = [
    (task, path, re.findall(r"`([^`]+)`", names))
    for task, path, names in re.findall(r"^\| (?!to …)(.+?) \| `([^`]+)` \| (.+) \|$", TABLE, re.M)
]


def names_in(path: Path) -> set[str]:
    """What a reader finds in a file or a folder: files; definitions, members and method calls; words of other text."""
    if path.is_dir():
        return {child.name for child in path.iterdir()}
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return set(re.findall(r"[\w.]+", text))
    tree = ast.parse(text)
    found = set(defined(tree.body))
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(name=name, body=body):
                found |= {f"{name}.{member}" for member in defined(body)}
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=method)):
                found.add(f"{owner}.{method}")
    return found


def defined(body: list[ast.stmt]) -> list[str]:
    names = []
    for node in body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.append(name)
            case ast.Assign(targets=targets):
                names += [target.id for target in targets if isinstance(target, ast.Name)]
            case ast.AnnAssign(target=ast.Name(id=name)):
                names.append(name)
    return names


def test_the_table_has_a_row_for_every_task():
    assert len(ROWS) == TABLE.count("\n| ") - 1  # every row but the heading is in the form that the tests read
    assert len(ROWS) >= 12


@pytest.mark.parametrize(("task", "path", "names"), ROWS, ids=[task for task, *_ in ROWS])
def test_the_file_of_a_task_is_there_and_has_what_to_look_for(task, path, names):
    tracked = subprocess.run(["git", "ls-files", path], cwd=ROOT, capture_output=True, text=True, check=True)
    assert tracked.stdout.strip(), f"{path} is not in the repository"
    assert names, "nothing to look for"
    assert not set(names) - names_in(ROOT / path)


def test_no_file_is_the_place_of_two_tasks():
    paths = [path for _, path, _ in ROWS]
    assert len(set(paths)) == len(paths)


def test_every_folder_of_the_map_is_there():
    table = PAGE.partition("## The map\n")[2].partition("\n## ")[0]
    folders = re.findall(r"`([\w/]+/)`", "\n".join(row.split(" | ")[0] for row in table.splitlines() if row[:1] == "|"))
    assert len(folders) >= 12
    assert not [folder for folder in folders if not (ROOT / folder).is_dir()]
    boxes = re.findall(r'^ +\w+\["((?:\w+/(?:, )?)+)<br>', table, re.M)
    parts = {part.rstrip("/") for box in boxes for part in box.split(", ")}
    assert {"judge", "coordinator", "notebook"} <= parts
    places = (ROOT, ROOT / "grading", ROOT / "course")
    assert not {part for part in parts - {"submitted", "release"} if not any((p / part).is_dir() for p in places)}
