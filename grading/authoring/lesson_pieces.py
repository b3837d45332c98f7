"""Divide a lesson into pieces that are merged separately.

A piece is a file of graders, or a cell of the text. Does not cover: merge decisions for a whole exercise
(`merge_lessons`).
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from .lesson_cells import Cell, align, read_cells
from .three_way import Merged, Outcome, merge_order, merge_value

Tree = Mapping[str, str]
SHARED = "shared"
QUESTIONS = "questions"  # folder of a lesson's written questions, with one file each
TESTS = "grader_tests"
CHECKS: dict[str, Callable[[str], object]] = {".py": ast.parse, ".toml": tomllib.loads}  # by file ending


@dataclass(frozen=True)
class Piece:
    """A file, or a cell of a lesson's text: both sides' versions and the merged one.

    place     where a person finds it: a file of the exercise, the title of a cell, or the path again
    exercise  the exercise that it belongs to; "" for the lesson's own
    grades    whether a grade may depend on it: a file of graders, or a cell with an answer or a check
    left      whether their change is not taken because another piece of the exercise is a conflict
    """

    path: str
    place: str
    exercise: str
    ours: str | None
    theirs: str | None
    merged: Merged
    grades: bool = True
    left: bool = False

    @property
    def outcome(self) -> Outcome:
        return self.merged.outcome

    @property
    def value(self) -> str | None:
        return self.ours if self.left else self.merged.value


def file_piece(path: str, base: Tree, ours: Tree, theirs: Tree) -> Piece:
    """Merge a file of graders."""
    merged = merge_value(base.get(path), ours.get(path), theirs.get(path))
    if merged.outcome is Outcome.MERGED and not is_valid(path, merged.value or ""):
        merged = Merged(ours.get(path), Outcome.CONFLICT)
    _, lesson, *folder, file = path.split("/")
    exercise = folder[0] if folder and lesson != SHARED else ""
    exercise = file.removesuffix(".toml") if exercise == QUESTIONS else exercise
    place = "/".join([*folder[1:], file]) if exercise else path
    return Piece(path, place, exercise, ours.get(path), theirs.get(path), merged)


def is_valid(path: str, text: str) -> bool:
    """Whether a text that was merged by line is valid.

    Only Python and TOML files may be merged by line.
    """
    check = CHECKS.get(path[path.rfind(".") :])
    try:
        return check is not None and check(text) is not None
    except (SyntaxError, ValueError):
        return False


def merge_cells(path: str, base: Tree, ours: Tree, theirs: Tree) -> list[tuple[Piece, str]]:
    """The merged cells of a lesson's text in order, each with the space after it.

    Without a base, a text that differs is a single piece, since nobody knows which side added or removed a cell.
    """
    whole = merge_value(base.get(path), ours[path], theirs[path])
    if not base.get(path) and whole.outcome is Outcome.CONFLICT:
        return [(Piece(path, path, "", ours[path], theirs[path], whole), "\n")]
    sides = [read_cells(tree.get(path, "")) for tree in (base, ours, theirs)]
    b, o, t = (dict(zip(keys, side, strict=True)) for keys, side in zip(_keys(*sides), sides, strict=True))
    return [_cell_piece(path, b.get(key), o.get(key), t.get(key)) for key in merge_order(list(b), list(o), list(t))]


def _cell_piece(path: str, base: Cell | None, ours: Cell | None, theirs: Cell | None) -> tuple[Piece, str]:
    known = [cell for cell in (ours, theirs, base) if cell]
    exercise = next((cell.exercise for cell in known if cell.exercise), "")
    texts = [cell.text if cell else None for cell in (base, ours, theirs)]
    space = merge_value(*(cell.space if cell else None for cell in (base, ours, theirs))).value
    grades = any(cell.grade_id for cell in known)
    piece = Piece(path, f"“{known[0].title}”", exercise, texts[1], texts[2], merge_value(*texts), grades)
    return piece, space or known[0].space


def _keys(base: Sequence[Cell], ours: Sequence[Cell], theirs: Sequence[Cell]) -> Iterator[list[str]]:
    """A key for each cell of the three versions, equal for the same cell."""
    of_ours = {j: f"base {i}" for i, j in align(base, ours).items()}
    of_theirs = {j: f"base {i}" for i, j in align(base, theirs).items()}
    mine = [j for j in range(len(ours)) if j not in of_ours]
    other = [j for j in range(len(theirs)) if j not in of_theirs]
    both = align([ours[j] for j in mine], [theirs[j] for j in other])
    of_theirs |= {other[k]: f"ours {mine[i]}" for i, k in both.items()}  # both added it
    yield [f"base {i}" for i in range(len(base))]
    yield [of_ours.get(j, f"ours {j}") for j in range(len(ours))]
    yield [of_theirs.get(j, f"theirs {j}") for j in range(len(theirs))]
