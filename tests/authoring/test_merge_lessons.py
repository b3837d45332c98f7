"""Merge three versions of a lesson by exercise, with real changes to lesson 02."""

from __future__ import annotations

import json

import pytest

from grading.authoring.lesson_cells import join_cells, read_cells
from grading.authoring.lesson_names import merge_names
from grading.authoring.merge_lessons import LessonMerge, merge_lesson
from grading.authoring.three_way import Outcome

from ..support.repository import ROOT

LESSON = "02_softmax"
TEXT, TESTS = f"source/{LESSON}.py", f"grader_tests/{LESSON}"
NAMES, COMMON = f"{TESTS}/__init__.py", f"{TESTS}/common.py"
SOFTMAX, ENTROPY = f"{TESTS}/softmax/contract.py", f"{TESTS}/entropy/contract.py"
Tree = dict[str, str]


@pytest.fixture(scope="module")
def base() -> Tree:
    paths = [ROOT / TEXT, *(path for path in (ROOT / TESTS).rglob("*") if path.suffix in (".py", ".toml"))]
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def edited(tree: Tree, path: str, old: str, new: str) -> Tree:
    assert old in tree[path]
    return {**tree, path: tree[path].replace(old, new, 1)}


def without_exercise(tree: Tree, name: str) -> Tree:
    """Drop an exercise as a teacher does: its cells, its folder and its name."""
    cells = [cell for cell in read_cells(tree[TEXT]) if cell.exercise != name]
    kept = {path: text for path, text in tree.items() if not path.startswith(f"{TESTS}/{name}/")}
    kept[TEXT] = join_cells([(cell.text, cell.space) for cell in cells])
    return edited(kept, NAMES, f', "{name}"', "")


def with_exercise(tree: Tree, name: str) -> Tree:
    """Add an exercise after `softmax` as an author does: a copy of `entropy`."""
    cells, added = read_cells(tree[TEXT]), list[tuple[str, str]]()
    for cell in cells:
        added.append((cell.text, cell.space))
        if cell.grade_id == "check_softmax":
            added += [(c.text.replace("entropy", name), c.space) for c in cells if c.exercise == "entropy"]
    files = {
        p.replace("/entropy/", f"/{name}/"): t.replace("entropy", name) for p, t in tree.items() if "/entropy/" in p
    }
    return edited({**tree, TEXT: join_cells(added), **files}, NAMES, '"softmax", ', f'"softmax", "{name}", ')


def merged(base: Tree, ours: Tree, theirs: Tree) -> tuple[Tree, LessonMerge]:
    """The course's files after the merge, and the merge."""
    done = merge_lesson(LESSON, base, ours, theirs)
    return {path: text for path, text in {**ours, **done.files}.items() if text is not None}, done


def test_a_change_on_one_side_is_taken(base):
    changed = without_exercise(edited(with_exercise(base, "spread"), COMMON, "7.0", "8.0"), "log_softmax")
    assert merged(base, base, changed)[0] == merged(base, changed, base)[0] == changed
    assert merged(base, changed, changed) == (changed, merge_lesson(LESSON, base, changed, changed))
    assert not merge_lesson(LESSON, base, changed, base).conflicts


def test_changes_to_different_pieces_or_lines_are_both_made(base):
    ours = edited(base, SOFTMAX, "points=0.5)", "points=1.25)")
    ours = edited(edited(ours, TEXT, '"points": 7', '"points": 8'), TEXT, "Lesson 2: Softmax", "Week 3: Softmax")
    theirs = edited(edited(base, SOFTMAX, "draw.normal(5)", "draw.normal(6)"), ENTROPY, "points=1)", "points=2)")
    theirs = edited(theirs, TEXT, "**You need** lesson 1", "**You need** chapter 1")
    after, done = merged(base, ours, theirs)
    assert not done.conflicts
    assert "points=1.25)" in after[SOFTMAX] and "draw.normal(6)" in after[SOFTMAX]
    assert after[ENTROPY] == theirs[ENTROPY]
    assert '"points": 8' in after[TEXT] and "chapter 1" in after[TEXT] and "Week 3" in after[TEXT]
    assert {piece.path for piece in done.pieces if piece.outcome is Outcome.MERGED} == {SOFTMAX, TEXT}


def test_an_exercise_with_a_conflict_stays_ours_completely(base):
    ours = edited(base, SOFTMAX, "points=1.5)", "points=2)")
    theirs = edited(
        edited(base, SOFTMAX, "points=1.5)", "points=1)"), TEXT, "Compute the weights", "Return the weights"
    )
    theirs = edited(theirs, f"{TESTS}/softmax/mistakes.py", "right", "good")
    theirs = edited(theirs, ENTROPY, "points=1)", "points=2)")
    after, done = merged(base, ours, theirs)
    assert after == {**ours, ENTROPY: theirs[ENTROPY]}
    assert [(piece.place, piece.exercise) for piece in done.conflicts] == [("contract.py", "softmax")]
    assert {piece.path for piece in done.pieces if piece.left} == {f"{TESTS}/softmax/mistakes.py", TEXT}


def test_an_exercise_that_the_teacher_removed_stays_removed(base):
    ours = without_exercise(base, "entropy")
    theirs = edited(edited(base, ENTROPY, "points=1)", "points=2)"), TEXT, "check(entropy)", "check(entropy)  # now")
    theirs = {**theirs, f"{TESTS}/entropy/more.py": "X = 1\n"}
    theirs = with_exercise(theirs, "spread")
    after, done = merged(base, ours, theirs)
    assert after == with_exercise_like(ours, theirs, "spread")
    assert {piece.exercise for piece in done.pieces if piece.outcome is Outcome.LEFT_OUT} == {"entropy"}
    assert not done.conflicts


def with_exercise_like(ours: Tree, theirs: Tree, name: str) -> Tree:
    """Our files with one exercise of theirs."""
    files = {path: text for path, text in theirs.items() if f"/{name}/" in path}
    cells = [(c.text, c.space) for c in read_cells(ours[TEXT])]
    new = [(c.text, c.space) for c in read_cells(theirs[TEXT]) if c.exercise == name]
    place = next(i for i, cell in enumerate(read_cells(ours[TEXT])) if cell.grade_id == "check_softmax") + 1
    text = join_cells([*cells[:place], *new, *cells[place:]])
    return {**edited(ours, NAMES, '"softmax", ', f'"softmax", "{name}", '), **files, TEXT: text}


def test_an_exercise_that_the_new_version_removes_is_removed_unless_the_teacher_changed_it(base):
    theirs = without_exercise(base, "entropy")
    assert merged(base, edited(base, COMMON, "7.0", "8.0"), theirs)[0] == edited(theirs, COMMON, "7.0", "8.0")
    ours = edited(base, ENTROPY, "points=1)", "points=2)")
    after, done = merged(base, ours, theirs)
    assert after == ours
    assert [piece.path for piece in done.conflicts] == [ENTROPY]


def test_lists_and_text_agree_if_one_exercise_is_dropped_next_to_an_added_one(base):
    after, done = merged(base, without_exercise(base, "log_softmax"), with_exercise(base, "spread"))
    assert not done.conflicts
    assert 'EXERCISES = ("softmax", "spread", "softmax_with_temperature", "entropy")' in after[NAMES]
    marked = [cell.grade_id for cell in read_cells(after[TEXT]) if cell.grade_id.startswith("check_")]
    assert json.dumps([name.removeprefix("check_") for name in marked])[1:-1] in after[NAMES]


def test_a_lesson_stays_unchanged_if_its_shared_code_has_a_conflict(base):
    ours, theirs = (edited(base, COMMON, "7.0", number) for number in ("8.0", "9.0"))
    done = merge_lesson(LESSON, base, ours, edited(theirs, ENTROPY, "points=1)", "points=2)"))
    assert not done.files and COMMON in done.stays


def test_without_a_base_differences_are_left_to_the_teacher(base):
    ours = edited(base, TEXT, "**You need** lesson 1", "**You need** chapter 1")
    done = merge_lesson(LESSON, {}, ours, edited(base, TEXT, "Compute the weights", "Return the weights"))
    assert not done.files and TEXT in done.stays
    done = merge_lesson(LESSON, {}, base, edited(base, ENTROPY, "points=1)", "points=2)"))
    assert not done.files and [piece.path for piece in done.conflicts] == [ENTROPY]


@pytest.mark.parametrize("broken", ["def (:\n", "x = (1,\n"])
def test_a_merge_into_invalid_python_is_left_to_the_teacher(base, broken):
    ours = edited(base, COMMON, "7.0", "8.0")
    done = merge_lesson(LESSON, base, ours, {**base, COMMON: base[COMMON] + broken})
    assert not done.files and COMMON in done.stays


@pytest.mark.parametrize(
    ("ours", "theirs", "merged"),
    [
        ('EXERCISES = ("a",)\n', 'EXERCISES = ("a", "b", "c")\n', 'EXERCISES = ("a", "c")\n'),
        ('EXERCISES = ["b", "a"]\n', "EXERCISES = ('a', 'b', 'c')\n", 'EXERCISES = ("b", "c", "a")\n'),
        ('"""Mine."""\nEXERCISES = ("a", "b")\n', 'EXERCISES = ("b")\n', '"""Mine."""\nEXERCISES = ("a", "b")\n'),
        ('EXERCISES = ("a", "b"\n', 'EXERCISES = ("a", "b", "c")\n', 'EXERCISES = ("a", "b"\n'),
    ],
)
def test_lists_of_exercises_merge_by_name(ours, theirs, merged):
    there = {"a", "b", "c"}  # the third does not apply the new version's removal of `a`
    assert merge_names("__init__.py", there, 'EXERCISES = ("a", "b")\n', ours, theirs).value == merged
