"""Merge three versions of a lesson by exercise, with real changes to lesson 02."""

from __future__ import annotations

import pytest

from grading.plugins.migrate.lesson_cells import join_cells, read_cells
from grading.plugins.migrate.merge_lessons import LessonMerge, merge_lesson

from ...support.repository import ROOT

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
    assert (set(done.taken), set(done.merged)) == ({"entropy"}, {"softmax", ""})


def test_an_exercise_with_a_conflict_stays_ours_completely(base):
    ours = edited(base, SOFTMAX, "points=1.5)", "points=2)")
    theirs = edited(
        edited(base, SOFTMAX, "points=1.5)", "points=1)"), TEXT, "Compute the weights", "Return the weights"
    )
    theirs = edited(theirs, f"{TESTS}/softmax/mistakes.py", "right", "good")
    theirs = edited(theirs, ENTROPY, "points=1)", "points=2)")
    after, done = merged(base, ours, theirs)
    assert after == {**ours, ENTROPY: theirs[ENTROPY]}
    assert [(conflict.place, conflict.exercises) for conflict in done.conflicts] == [("contract.py", {"softmax"})]
    assert (done.taken, done.merged, done.decide) == (["entropy"], [], True)


def test_a_conflict_in_an_exercises_text_keeps_its_grader_too(base):
    ours = edited(base, TEXT, "Compute the weights", "Work out the weights")
    theirs = edited(
        edited(base, TEXT, "Compute the weights", "Return the weights"), SOFTMAX, "points=1.5)", "points=1)"
    )
    theirs = edited(theirs, TEXT, "**You need** lesson 1", "**You need** chapter 1")
    after, done = merged(base, ours, theirs)
    assert after == edited(ours, TEXT, "**You need** lesson 1", "**You need** chapter 1")
    (conflict,) = done.conflicts
    assert conflict.exercises == {"softmax"} and conflict.place.startswith("“")
    assert "Work out" in conflict.ours and "Return the" in conflict.theirs


def test_a_lesson_stays_unchanged_if_keeping_an_exercise_would_double_its_text(base):
    marker = next(line for line in base[TEXT].splitlines() if '"grade_id": "softmax"' in line)
    theirs = edited(base, TEXT, marker, f"# %% [markdown]\n# ### In two steps\n\n{marker}")
    theirs = edited(theirs, SOFTMAX, "points=1.5)", "points=1)")
    ours = edited(
        edited(base, SOFTMAX, "points=1.5)", "points=2)"), TEXT, "Compute the weights", "Work out the weights"
    )
    done = merge_lesson(LESSON, base, ours, theirs)
    assert not done.files and done.decide and "cannot be separated" in done.stays


def test_of_the_lessons_own_text_the_teachers_lines_stay(base):
    ours, theirs = (edited(base, TEXT, "**You need** lesson 1", word) for word in ("**Read** 1", "**Know** 1"))
    after, done = merged(base, ours, edited(theirs, ENTROPY, "points=1)", "points=2)"))
    assert after == edited(ours, ENTROPY, "points=1)", "points=2)")
    (conflict,) = done.conflicts
    assert conflict.place == "“Lesson 2: Softmax”" and not conflict.exercises


def test_an_exercise_that_the_teacher_removed_stays_removed(base):
    ours = without_exercise(base, "entropy")
    theirs = edited(edited(base, ENTROPY, "points=1)", "points=2)"), TEXT, "check(entropy)", "check(entropy)  # now")
    theirs = edited({**theirs, f"{TESTS}/entropy/more.py": "X = 1\n"}, COMMON, "7.0", "8.0")
    after, done = merged(base, ours, theirs)
    assert after == edited(ours, COMMON, "7.0", "8.0")
    assert done.removed == ["entropy"] and not done.conflicts


def test_an_exercise_that_the_new_version_removes_is_removed_unless_the_teacher_changed_it(base):
    theirs = without_exercise(base, "entropy")
    assert merged(base, edited(base, COMMON, "7.0", "8.0"), theirs)[0] == edited(theirs, COMMON, "7.0", "8.0")
    ours = edited(base, ENTROPY, "points=1)", "points=2)")
    after, done = merged(base, ours, theirs)
    assert after == ours
    assert [conflict.path for conflict in done.conflicts] == [ENTROPY] and "entropy" in done.stays


def test_a_lesson_stays_unchanged_if_both_sides_changed_its_list_of_exercises(base):
    done = merge_lesson(LESSON, base, without_exercise(base, "log_softmax"), with_exercise(base, "spread"))
    assert not done.files and NAMES in done.stays and done.decide


def test_an_exercise_both_sides_added_stays_the_teachers(base):
    ours, theirs = (
        with_exercise(base, "spread"),
        edited(with_exercise(base, "spread"), TEXT, "check(spread)", "check(spread)  # now"),
    )
    after, done = merged(base, ours, edited(theirs, ENTROPY, "points=1)", "points=2)"))
    assert after == edited(ours, ENTROPY, "points=1)", "points=2)")
    assert [conflict.exercises for conflict in done.conflicts] == [{"spread"}]


def test_a_lesson_stays_unchanged_if_its_shared_code_has_a_conflict(base):
    ours, theirs = (edited(base, COMMON, "7.0", number) for number in ("8.0", "9.0"))
    done = merge_lesson(LESSON, base, ours, edited(theirs, ENTROPY, "points=1)", "points=2)"))
    assert not done.files and COMMON in done.stays


def test_without_a_base_a_lesson_that_differs_is_left_to_the_teacher(base):
    done = merge_lesson(LESSON, {}, base, edited(base, ENTROPY, "points=1)", "points=2)"))
    assert not done.files and "is not known" in done.stays and done.decide
    assert merge_lesson(LESSON, {}, base, base) == LessonMerge(LESSON, taken=[], merged=[], removed=[], conflicts=[])


@pytest.mark.parametrize("broken", ["def (:\n", "x = (1,\n"])
def test_a_merge_into_invalid_python_is_left_to_the_teacher(base, broken):
    ours = edited(base, COMMON, "7.0", "8.0")
    done = merge_lesson(LESSON, base, ours, {**base, COMMON: base[COMMON] + broken})
    assert not done.files and COMMON in done.stays
