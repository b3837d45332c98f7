"""Merge a new version of the lessons into a course, by lesson and exercise: which files change, and why.

Three versions: the base that the course began with, ours (the teacher's), theirs (the new one). A lesson's text merges
by cell, everything else by file. An exercise in which both changed the same piece stays ours with all its pieces, since
its text, its stub and its grader belong together.

Works on texts by path. Does not cover: where the base comes from (`course_dir.lesson_base`), whether the outcome builds
and what it does to grades (`coordinator.migrate_lessons`).
"""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from .lesson_cells import Cell, align, join_cells, read_cells
from .three_way import Merged, Outcome, merge_order, merge_value

Tree = Mapping[str, str]
SHARED = "shared"
QUESTIONS = "questions"  # the folder of a lesson's written questions, a file each
TESTS = "grader_tests"
NAMES = re.compile(r"^(EXERCISES|CHALLENGES)\s*=\s*(\([^()]*\)|\[[^\[\]]*\])", re.MULTILINE)
CHECKS: dict[str, Callable[[str], object]] = {".py": ast.parse, ".toml": tomllib.loads}  # by a file's ending


@dataclass(frozen=True)
class Piece:
    """A file, or a cell of a lesson's text, in the three versions and merged.

    place     where a person finds it: a file of the exercise, the title of a cell, or the path again
    exercise  to which it belongs; "" for the lesson's own
    grades    whether a grade may depend on it: a file of graders, or a cell with an answer or a check
    left      whether theirs is not taken because another piece of its exercise is a conflict
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


@dataclass(frozen=True)
class LessonMerge:
    """A lesson, or `shared`, merged. `files`: what changes in ours, None for a file that goes; `stays`: why it stays
    ours as a whole."""

    name: str
    files: dict[str, str | None] = field(default_factory=dict)
    pieces: list[Piece] = field(default_factory=list)
    stays: str = ""

    @property
    def conflicts(self) -> list[Piece]:
        return [piece for piece in self.pieces if piece.outcome is Outcome.CONFLICT]

    def mixed(self, shared: Set[Outcome] = frozenset()) -> set[str]:
        """The exercises whose graders are made of both sides' changes, so that neither side has proved them.

        shared  how the files came about that lessons share
        """
        common = shared | self._outcomes("")
        found = {name: common | self._outcomes(name) for name in {piece.exercise for piece in self.pieces} - {""}}
        return {e for e, how in found.items() if Outcome.MERGED in how or {Outcome.OURS, Outcome.TAKEN} <= how}

    def _outcomes(self, exercise: str) -> set[Outcome]:
        """How the graders of an exercise came about; "": those of the lesson, on which all its exercises depend."""
        return {
            piece.outcome for piece in self.pieces if piece.exercise == exercise and piece.grades and not piece.left
        }

    def kept(self, why: str) -> LessonMerge:
        """The same lesson if nothing of it is merged."""
        return LessonMerge(self.name, stays=why)


def lessons_of(tree: Iterable[str]) -> set[str]:
    """The lessons of a course, by its files."""
    return {found[1] for path in tree if (found := re.fullmatch(r"source/(\d\d_\w*)\.py", path))}


def part_of(tree: Tree, name: str) -> dict[str, str]:
    """The files of a lesson, or of `shared`."""
    return {p: text for p, text in tree.items() if p == f"source/{name}.py" or p.startswith(f"{TESTS}/{name}/")}


def merge_lesson(name: str, base: Tree, ours: Tree, theirs: Tree) -> LessonMerge:
    """Merge a lesson that ours and theirs have, or `shared`, given only its files."""
    text, names = f"source/{name}.py", f"{TESTS}/{name}/__init__.py"
    pieces = [_file_piece(path, base, ours, theirs) for path in sorted({*ours, *theirs}) if path not in (text, names)]
    cells = _merge_cells(text, base, ours, theirs) if text in ours and text in theirs else []
    every = [*pieces, *(piece for piece, _ in cells)]
    contested = {piece.exercise for piece in every if piece.outcome is Outcome.CONFLICT} - {""}
    removed = {e for e in {piece.exercise for piece in every} if _has(base, name, e) and not _has(ours, name, e)}
    pieces = [_settle(piece, removed, contested) for piece in pieces]
    cells = [(_settle(piece, removed, contested), space) for piece, space in cells]
    files = {piece.path: piece.value for piece in pieces}
    pieces += [piece for piece, _ in cells]
    if cells and any(piece.value != piece.ours for piece, _ in cells):
        files[text] = join_cells([(piece.value, space) for piece, space in cells if piece.value is not None])
    if names in ours and names in theirs:
        there = {path.split("/")[2] for path, value in files.items() if path.count("/") > 2 and value is not None}
        pieces.append(_merge_names(names, there, base.get(names, ""), ours[names], theirs[names]))
        files[names] = pieces[-1].value
    done = LessonMerge(name, {path: value for path, value in files.items() if value != ours.get(path)}, pieces)
    common = [piece.path for piece in done.conflicts if piece.place == piece.path and piece.path.endswith(".py")]
    if common and name != SHARED:
        return replace(done, files={}, stays=f"both changed {', '.join(common)}, on which all of it depends")
    return done


def _settle(piece: Piece, removed: set[str], contested: set[str]) -> Piece:
    """The piece with what its whole exercise decides: ours where ours removed it, or a part is left to the teacher."""
    if piece.exercise in removed and piece.value != piece.ours:
        return replace(piece, merged=Merged(piece.ours, Outcome.LEFT_OUT))
    conflict = piece.outcome is Outcome.CONFLICT
    return replace(piece, left=piece.exercise in contested and not conflict and piece.value != piece.ours)


def _file_piece(path: str, base: Tree, ours: Tree, theirs: Tree) -> Piece:
    merged = merge_value(base.get(path), ours.get(path), theirs.get(path))
    if merged.outcome is Outcome.MERGED and not _is_valid(path, merged.value or ""):
        merged = Merged(ours.get(path), Outcome.CONFLICT)
    _, lesson, *folder, file = path.split("/")
    exercise = folder[0] if folder and lesson != SHARED else ""
    exercise = file.removesuffix(".toml") if exercise == QUESTIONS else exercise
    place = "/".join([*folder[1:], file]) if exercise else path
    return Piece(path, place, exercise, ours.get(path), theirs.get(path), merged)


def _is_valid(path: str, text: str) -> bool:
    """Whether a text that was merged by line can be read; only Python and TOML may be merged so."""
    check = CHECKS.get(path[path.rfind(".") :])
    try:
        return check is not None and check(text) is not None
    except (SyntaxError, ValueError):
        return False


def _merge_cells(path: str, base: Tree, ours: Tree, theirs: Tree) -> list[tuple[Piece, str]]:
    """The cells of a lesson's text in their order, each with the space after it.

    Without a base a text that differs is one piece, since nobody knows which side added or removed a cell.
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
    """A key for each cell of the three versions; one cell has the same in all."""
    of_ours = {j: f"base {i}" for i, j in align(base, ours).items()}
    of_theirs = {j: f"base {i}" for i, j in align(base, theirs).items()}
    mine = [j for j in range(len(ours)) if j not in of_ours]
    other = [j for j in range(len(theirs)) if j not in of_theirs]
    both = align([ours[j] for j in mine], [theirs[j] for j in other])
    of_theirs |= {other[k]: f"ours {mine[i]}" for i, k in both.items()}  # both added it
    yield [f"base {i}" for i in range(len(base))]
    yield [of_ours.get(j, f"ours {j}") for j in range(len(ours))]
    yield [of_theirs.get(j, f"theirs {j}") for j in range(len(theirs))]


def _merge_names(path: str, there: set[str], base: str, ours: str, theirs: str) -> Piece:
    """Merge a lesson's __init__.py: its lists of exercises name by name, the rest by line.

    there  the exercises that have a grader after the merge
    """
    texts = [NAMES.sub(r"\1 = ()", text) for text in (base, ours, theirs)]
    listed = [{found[1]: _listed(found[2]) for found in NAMES.finditer(text)} for text in (base, ours, theirs)]
    rest = merge_value(*texts)

    def filled(found: re.Match[str]) -> str:
        b, o, t = (names.get(found[1], ()) for names in listed)
        order = [name for name in merge_order(b, o, t) if name in there and (name in o or name not in b)]
        return f"{found[1]} = ({', '.join(map(json.dumps, order))}{',' * (len(order) == 1)})"

    if rest.outcome is Outcome.CONFLICT or not _is_valid(path, value := NAMES.sub(filled, rest.value or "")):
        return Piece(path, path, "", ours, theirs, Merged(ours, Outcome.CONFLICT))
    outcome = Outcome.TAKEN
    for side in (theirs, ours):
        if ast.dump(ast.parse(value)) == ast.dump(ast.parse(side)):
            value = side  # as it is written there
    if value == ours:
        outcome = Outcome.SAME if ours in (base, theirs) else Outcome.OURS
    return Piece(path, path, "", ours, theirs, Merged(value, outcome))


def _listed(text: str) -> tuple[str, ...]:
    return tuple(ast.literal_eval(text))


def _exercises(tree: Tree, path: str) -> set[str]:
    return {cell.exercise for cell in read_cells(tree.get(path, ""))} - {""}


def _has(tree: Tree, name: str, exercise: str) -> bool:
    """Whether a lesson asks for an exercise, in its text or, for a challenge, in its list."""
    listed = NAMES.findall(tree.get(f"{TESTS}/{name}/__init__.py", ""))
    in_lists = any(exercise in _listed(names) for _, names in listed)
    return in_lists or exercise in _exercises(tree, f"source/{name}.py")
