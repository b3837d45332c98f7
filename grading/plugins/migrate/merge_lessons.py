"""Merge a new version of a lesson into a course, exercise by exercise.

There are three versions: the base that the course began with, ours (the teacher's) and theirs (the new one). git merges
each file by line (`merge_text`). If both sides changed the same lines of an exercise, the whole exercise stays ours,
since its text, its stub and its grader belong together: it is made the same in all three versions, which are then
merged again.

Works on texts by path. Does not cover: where the base comes from (`course_dir.lesson_base`), whether the outcome builds
and how it changes grades (`coordinator.migrate_lessons`).
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import groupby

from .lesson_cells import Cell, join_cells, read_cells
from .merge_text import merge_text

Tree = Mapping[str, str]
SHARED = "shared"
QUESTIONS = "questions"  # folder of a lesson's written questions, with one file each
TESTS = "grader_tests"
CHECKS: dict[str, Callable[[str], object]] = {"py": ast.parse, "toml": tomllib.loads}  # by file ending


@dataclass(frozen=True)
class Conflict:
    """A place that both sides changed differently.

    place      where a person finds it: a file of the exercise, the title of a cell, or the path again
    exercises  the exercises that it belongs to; none for the lesson's own
    ours       its lines, or the whole file; None if that is absent
    """

    path: str
    place: str
    exercises: Set[str]
    ours: str | None
    theirs: str | None


@dataclass(frozen=True)
class LessonMerge:
    """A merged lesson, or `shared`.

    files    changes to our files; None for a file to delete
    taken    exercises that become the new ones; "" for the lesson's own cells and files
    merged   exercises with both sides' changes
    removed  exercises that we removed and the new version changed
    stays    why the whole lesson stays ours
    decide   whether the teacher has to decide something
    """

    name: str
    files: Mapping[str, str | None] = field(default_factory=dict)
    taken: Collection[str] = ()
    merged: Collection[str] = ()
    removed: Collection[str] = ()
    conflicts: Sequence[Conflict] = ()
    stays: str = ""
    decide: bool = False


def lessons_of(tree: Iterable[str]) -> set[str]:
    """The lessons of a course, from the paths of its files."""
    return {found[1] for path in tree if (found := re.fullmatch(r"source/(\d\d_\w*)\.py", path))}


def lesson_of(path: str) -> str:
    """The lesson, or `shared`, that a file belongs to."""
    return path.split("/")[1].removesuffix(".py")


def part_of(tree: Tree, name: str) -> dict[str, str]:
    """The files of a lesson, or of `shared`."""
    return {p: text for p, text in tree.items() if p == f"source/{name}.py" or p.startswith(f"{TESTS}/{name}/")}


def exercise_of(path: str) -> str:
    """The exercise that a file of graders belongs to; "" for the lesson's own."""
    _, lesson, *rest = path.split("/")
    if len(rest) < 2 or lesson == SHARED:
        return ""
    return rest[-1].removesuffix(".toml") if rest[0] == QUESTIONS else rest[0]


def graded_parts(name: str, tree: Tree, exercise: str) -> dict[str, str]:
    """The texts on which grades of an exercise may depend, with what lessons share."""
    files = {**part_of(tree, name), **part_of(tree, SHARED)}
    text = files.pop(f"source/{name}.py", "")
    cells = {cell.grade_id: cell.text for cell in read_cells(text) if cell.grade_id and cell.exercise == exercise}
    return cells | {path: text for path, text in files.items() if exercise_of(path) in ("", exercise)}


def merge_lesson(name: str, base: Tree, ours: Tree, theirs: Tree) -> LessonMerge:
    """Merge a lesson that both sides have, or `shared`, given only its files."""
    if not base and ours != theirs and name != SHARED:
        return LessonMerge(
            name, stays="it differs, and the lesson that your course began with is not known", decide=True
        )
    removed = {exercise for _, exercise in _places(name, base) - _places(name, ours)}
    kept, conflicts = set(removed), list[Conflict]()
    while True:
        outcome, found = _merge_files(name, base, ours, theirs, kept)
        if not (new := [conflict for conflict in found if conflict.exercises - kept]):
            break
        conflicts += new
        kept |= {exercise for conflict in new for exercise in conflict.exercises}
    conflicts += found
    before, after, other = (parts_of(name, tree) for tree in (ours, outcome, theirs))
    text = f"source/{name}.py"
    inseparable = [c.place for c in found if c.exercises or (c.path != text and c.path.endswith(".py"))]
    inseparable += [e for e in kept if before.get(e) != after.get(e) or (e not in before and e not in removed)]
    titles = [
        Counter(cell.grade_id or cell.heading for cell in read_cells(t.get(text, ""))) for t in (ours, theirs, outcome)
    ]
    inseparable += [f"“{title}”" for title in titles[2] - (titles[0] | titles[1]) if title]  # doubled
    if inseparable and name != SHARED:
        places = ", ".join(dict.fromkeys(inseparable))
        why = f"your changes and the new ones in {places} cannot be separated from the rest of the lesson"
        return LessonMerge(name, conflicts=conflicts, stays=why, decide=True)
    changed = [exercise for exercise in {**before, **after} if before.get(exercise) != after.get(exercise)]
    return LessonMerge(
        name,
        {path: outcome.get(path) for path in {**ours, **outcome} if outcome.get(path) != ours.get(path)},
        [exercise for exercise in changed if after.get(exercise) == other.get(exercise)],
        [exercise for exercise in changed if after.get(exercise) != other.get(exercise)],
        sorted(e for e in removed if other.get(e) not in (None, parts_of(name, base).get(e))),
        conflicts,
        decide=bool(conflicts),
    )


def _places(name: str, tree: Tree) -> set[tuple[str, str]]:
    """Where each exercise is: in the text, in a folder of graders, or in both."""
    cells = read_cells(tree.get(f"source/{name}.py", ""))
    found = {("text", cell.exercise) for cell in cells} | {("graders", exercise_of(path)) for path in tree}
    return {(where, exercise) for where, exercise in found if exercise}


def parts_of(name: str, tree: Tree) -> dict[str, list[str]]:
    """The files and cells of each exercise; "" has the lesson's own."""
    parts: dict[str, list[str]] = {}
    for path, text in sorted(tree.items()):
        if path != f"source/{name}.py":
            parts.setdefault(exercise_of(path), []).append(f"{path}\n{text}")
    for cell in read_cells(tree.get(f"source/{name}.py", "")):
        parts.setdefault(cell.exercise, []).append(cell.text)
    return parts


def _merge_files(
    name: str, base: Tree, ours: Tree, theirs: Tree, kept: Set[str]
) -> tuple[dict[str, str], list[Conflict]]:
    """Merge the files of a lesson, with the exercises in `kept` as ours are; returns the conflicts, too."""
    text = f"source/{name}.py"
    base, theirs = (_keep_exercises(name, kept, ours, tree) for tree in (base, theirs))
    outcome, conflicts = dict[str, str](), list[Conflict]()
    for path in sorted({*ours, *theirs}):
        b, o, t = (tree.get(path) for tree in (base, ours, theirs))
        merged, found = _merge_file(path, b, o, t, is_lesson=path == text)
        conflicts += found
        if merged is not None:
            outcome[path] = merged
    return outcome, conflicts


def _merge_file(
    path: str, base: str | None, ours: str | None, theirs: str | None, *, is_lesson: bool
) -> tuple[str | None, list[Conflict]]:
    """Merge a file; None means that it is absent.

    Of a lesson's text, clashing lines stay ours; of another file, all lines do.
    """
    if theirs in (base, ours) or (ours is None and base is not None):  # a file that we removed stays removed
        return ours, []
    if ours == base:
        return theirs, []
    exercise = exercise_of(path)
    place = "/".join(path.split("/")[3:]) if exercise else path
    whole = Conflict(path, place, {exercise} - {""}, ours, theirs)
    if base is None or ours is None or theirs is None:
        return ours, [whole]
    merged = merge_text(path, base, ours, theirs)
    if not is_lesson:
        return (merged.text, []) if not merged.clashes and _is_valid(path, merged.text) else (ours, [whole])
    conflicts = []
    for mine, new in merged.clashes:
        cells = [*_cells_at(merged.text, mine), *_cells_at(merged.other, new)]
        exercises = {cell.exercise for cell in cells} - {""}
        title = f"“{cells[0].title}”" if cells else path
        conflicts.append(Conflict(path, title, exercises, merged.text[mine], merged.other[new]))
    return merged.text, conflicts


def _cells_at(text: str, lines: slice) -> Iterator[Cell]:
    """The cells that have some of these lines."""
    start = 0
    for cell in read_cells(text):
        end = start + len(cell.text) + len(cell.space)
        if start < lines.stop and lines.start < end:
            yield cell
        start = end


def _is_valid(path: str, text: str) -> bool:
    try:
        return CHECKS[path.rpartition(".")[2]](text) is not None
    except (SyntaxError, ValueError):
        return False


def _keep_exercises(name: str, kept: Set[str], ours: Tree, other: Tree) -> Tree:
    """Make these exercises the same in another version as in ours.

    Done to the base and to theirs, no merge can change them then.
    """
    text = f"source/{name}.py"
    files = {path: theirs for path, theirs in other.items() if exercise_of(path) not in kept}
    files |= {path: mine for path, mine in ours.items() if exercise_of(path) in kept}
    cells, mine = read_cells(other.get(text, "")), read_cells(ours.get(text, ""))
    if kept & {cell.exercise for cell in cells}:
        joined = list[Cell]()
        for exercise, group in groupby(cells, lambda cell: cell.exercise):
            joined += [cell for cell in mine if cell.exercise == exercise] if exercise in kept else group
        files[text] = join_cells([(cell.text, cell.space) for cell in joined])
    return files
