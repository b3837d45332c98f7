"""The walk of one submission in docs/judging.md names the functions that do call one another."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
STAY = re.compile(r"^\d+\. `(.+?)`: `(.+?)` (.+)$", re.MULTILINE)
NOT_CALLED_BY_NAME = ("(found by the parser)", "(in the judge's process)")


def source_of(file: str, name: str) -> str:
    """The text of all functions and classes of this name in a file."""
    text = (ROOT / "grading" / file).read_text(encoding="utf-8")
    found = [
        ast.get_source_segment(text, node) or ""
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name
    ]
    assert found, f"{file} has no {name}"
    return "\n".join(found)


def test_each_function_of_the_walk_is_called_by_one_above_it():
    stays = STAY.findall((ROOT / "docs/judging.md").read_text(encoding="utf-8"))
    above = ""
    for file, name, what in stays:
        source = source_of(file, name)
        if above and not any(mark in what for mark in NOT_CALLED_BY_NAME):
            assert re.search(rf"(?<!def )\b{name}\b", above), f"nothing above calls {file}: {name}"
        above += source
    files = [file for file, _, _ in stays]
    left = [file for k, file in enumerate(files) if k and file != files[k - 1] and file in files[: k - 1]]
    assert 20 < len(stays) <= 35
    assert len(set(files)) <= 18
    assert len(left) <= 8
