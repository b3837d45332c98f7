"""Merge a lesson's lists of exercises, in its graders' __init__.py, by name."""

from __future__ import annotations

import ast
import json
import re

from .lesson_cells import read_cells
from .lesson_pieces import TESTS, Piece, Tree, is_valid
from .three_way import Merged, Outcome, merge_order, merge_value

TEXT = r"""["'][^"'\n]*["']"""
NAMES = re.compile(rf"^(EXERCISES|STEPS)\s*=\s*([(\[]\s*(?:{TEXT}\s*,?\s*)*[)\]])", re.MULTILINE)


def merge_names(path: str, there: set[str], base: str, ours: str, theirs: str) -> Piece:
    """Merge a lesson's __init__.py: its lists of exercises by name, the rest by line.

    `there`: the exercises that have a grader after the merge.
    """
    texts = [NAMES.sub(r"\1 = ()", text) for text in (base, ours, theirs)]
    listed = [{found[1]: _listed(found[2]) for found in NAMES.finditer(text)} for text in (base, ours, theirs)]
    rest = merge_value(*texts)

    def filled(found: re.Match[str]) -> str:
        b, o, t = (names.get(found[1], []) for names in listed)
        order = [name for name in merge_order(b, o, t) if name in there and (name in o or name not in b)]
        return f"{found[1]} = ({', '.join(map(json.dumps, order))}{',' * (len(order) == 1)})"

    if rest.outcome is Outcome.CONFLICT or not is_valid(path, value := NAMES.sub(filled, rest.value or "")):
        return Piece(path, path, "", ours, theirs, Merged(ours, Outcome.CONFLICT))
    outcome = Outcome.TAKEN
    for side in (theirs, ours):
        if is_valid(path, side) and ast.dump(ast.parse(value)) == ast.dump(ast.parse(side)):
            value = side  # with that side's own layout
    if value == ours:
        outcome = Outcome.SAME if ours in (base, theirs) else Outcome.OURS
    return Piece(path, path, "", ours, theirs, Merged(value, outcome))


def has_exercise(tree: Tree, name: str, exercise: str) -> bool:
    """Whether a lesson has an exercise in its text or, for a step, in its list."""
    listed = NAMES.findall(tree.get(f"{TESTS}/{name}/__init__.py", ""))
    cells = read_cells(tree.get(f"source/{name}.py", ""))
    return any(exercise in _listed(names) for _, names in listed) or any(cell.exercise == exercise for cell in cells)


def _listed(text: str) -> list[str]:
    return [found[1:-1] for found in re.findall(TEXT, text)]
