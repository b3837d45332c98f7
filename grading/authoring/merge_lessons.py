"""Merge a new version of a lesson into a course, exercise by exercise.

There are three versions: the base that the course began with, ours (the teacher's) and theirs (the new one). A lesson's
text merges by cell, everything else by file. If both sides changed the same piece of an exercise, the whole exercise
stays ours, since its text, its stub and its grader belong together.

Works on texts by path. Does not cover: where the base comes from (`course_dir.lesson_base`), whether the outcome builds
and how it changes grades (`coordinator.migrate_lessons`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from dataclasses import dataclass, field, replace

from .lesson_cells import join_cells
from .lesson_names import has_exercise, merge_names
from .lesson_pieces import SHARED, TESTS, Piece, Tree, file_piece, merge_cells
from .three_way import Merged, Outcome


@dataclass(frozen=True)
class LessonMerge:
    """A merged lesson, or `shared`.

    files  changes to our files; None for a file to delete
    stays  why the whole lesson stays ours
    """

    name: str
    files: dict[str, str | None] = field(default_factory=dict)
    pieces: list[Piece] = field(default_factory=list)
    stays: str = ""

    @property
    def conflicts(self) -> list[Piece]:
        return [piece for piece in self.pieces if piece.outcome is Outcome.CONFLICT]

    def mixed(self, shared: Set[Outcome] = frozenset()) -> set[str]:
        """The exercises whose graders mix both sides' changes.

        Neither side has proved them. `shared`: outcomes of the files that lessons share.
        """
        common = shared | self._outcomes("")
        found = {name: common | self._outcomes(name) for name in {piece.exercise for piece in self.pieces} - {""}}
        return {e for e, how in found.items() if Outcome.MERGED in how or {Outcome.OURS, Outcome.TAKEN} <= how}

    def _outcomes(self, exercise: str) -> set[Outcome]:
        """The outcomes of an exercise's graders.

        "" means the lesson's own graders, on which all its exercises depend.
        """
        return {
            piece.outcome for piece in self.pieces if piece.exercise == exercise and piece.grades and not piece.left
        }

    def kept(self, why: str) -> LessonMerge:
        """The lesson if nothing in it is merged."""
        return LessonMerge(self.name, stays=why)


def lessons_of(tree: Iterable[str]) -> set[str]:
    """The lessons of a course, from the paths of its files."""
    return {found[1] for path in tree if (found := re.fullmatch(r"source/(\d\d_\w*)\.py", path))}


def part_of(tree: Tree, name: str) -> dict[str, str]:
    """The files of a lesson, or of `shared`."""
    return {p: text for p, text in tree.items() if p == f"source/{name}.py" or p.startswith(f"{TESTS}/{name}/")}


def merge_lesson(name: str, base: Tree, ours: Tree, theirs: Tree) -> LessonMerge:
    """Merge a lesson that both sides have, or `shared`, given only its files."""
    text, names = f"source/{name}.py", f"{TESTS}/{name}/__init__.py"
    pieces = [file_piece(path, base, ours, theirs) for path in sorted({*ours, *theirs}) if path not in (text, names)]
    cells = merge_cells(text, base, ours, theirs) if text in ours and text in theirs else []
    every = [*pieces, *(piece for piece, _ in cells)]
    contested = {piece.exercise for piece in every if piece.outcome is Outcome.CONFLICT} - {""}
    removed = {
        e
        for e in {piece.exercise for piece in every}
        if has_exercise(base, name, e) and not has_exercise(ours, name, e)
    }
    pieces = [_settle(piece, removed, contested) for piece in pieces]
    cells = [(_settle(piece, removed, contested), space) for piece, space in cells]
    files = {piece.path: piece.value for piece in pieces}
    pieces += [piece for piece, _ in cells]
    if cells and any(piece.value != piece.ours for piece, _ in cells):
        files[text] = join_cells([(piece.value, space) for piece, space in cells if piece.value is not None])
    if names in ours and names in theirs:
        there = {path.split("/")[2] for path, value in files.items() if path.count("/") > 2 and value is not None}
        pieces.append(merge_names(names, there, base.get(names, ""), ours[names], theirs[names]))
        files[names] = pieces[-1].value
    done = LessonMerge(name, {path: value for path, value in files.items() if value != ours.get(path)}, pieces)
    common = [piece.path for piece in done.conflicts if piece.place == piece.path and piece.path.endswith(".py")]
    if common and name != SHARED:
        return replace(
            done,
            files={},
            stays=f"you and the new version both changed {', '.join(common)}, which the whole lesson depends on",
        )
    return done


def _settle(piece: Piece, removed: set[str], contested: set[str]) -> Piece:
    """Apply the decision on the whole exercise to one of its pieces.

    A piece stays ours if we removed the exercise, or if another part of it is a conflict.
    """
    if piece.exercise in removed and piece.value != piece.ours:
        return replace(piece, merged=Merged(piece.ours, Outcome.LEFT_OUT))
    conflict = piece.outcome is Outcome.CONFLICT
    return replace(piece, left=piece.exercise in contested and not conflict and piece.value != piece.ours)
