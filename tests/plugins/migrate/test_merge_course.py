"""Merge all lessons of a course with a new version: the files and the next base."""

from __future__ import annotations

import pytest

from grading.course_dir.lesson_base import read_lessons
from grading.plugins.migrate.merge_course import merge_course
from grading.plugins.migrate.merge_lessons import SHARED, lessons_of, part_of

from ...support.course_builder import TINY_LESSONS, build_course, tiny_lesson

ONE, TWO = TINY_LESSONS
COMMON = "grader_tests/shared/__init__.py"
Tree = dict[str, str]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    return {**read_lessons(build_course(tmp_path_factory.mktemp("course"))), COMMON: "THREE = 3\n"}


@pytest.fixture(scope="module")
def theirs(base: Tree, tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """Another text of the first lesson, no second one, a third, and more shared code."""
    root = tmp_path_factory.mktemp("third")
    tiny_lesson("03_halve").write(root)
    left = {path: text for path, text in base.items() if TWO not in path}
    left[f"source/{ONE}.py"] = left[f"source/{ONE}.py"].replace("def check(f)", "def check(g)")
    return {**left, **read_lessons(root), COMMON: "THREE = 3\nFIVE = 5\n"}


def test_an_unchanged_course_becomes_the_new_version_but_loses_no_lesson(base, theirs):
    merge = merge_course(base, base, theirs)
    assert merge.outcome == {**theirs, **part_of(base, TWO)}
    assert (merge.changed, merge.new, merge.dropped, merge.removed) == ([ONE, "03_halve"], ["03_halve"], [TWO], [])
    assert merge.shared_changes and merge.next_base == theirs
    assert not merge_course(merge.next_base, merge.outcome, theirs).files


def test_a_version_without_changes_leaves_a_course_unchanged(base, theirs):
    assert merge_course(base, theirs, base).files == {}
    assert merge_course(base, theirs, base).own == ["03_halve"]
    assert merge_course(base, theirs, theirs).files == {}


def test_a_lesson_that_stays_is_compared_with_the_old_base_next_time(base, theirs):
    merge = merge_course(base, base, theirs).kept({ONE: "handed in", SHARED: "needed", "03_halve": "not built"})
    assert merge.files == {} and merge.outcome == base
    assert merge.next_base == {**part_of(base, ONE), COMMON: base[COMMON]}
    again = merge_course(merge.next_base, base, theirs)
    assert (again.changed, again.new, again.own) == ([ONE, "03_halve"], ["03_halve"], [TWO])


def test_only_lesson_files_count_as_lessons():
    assert lessons_of(["source/01_a.py", "source/a.py", "source/1_a.py", "source/01_a/01_a.py"]) == {"01_a"}
