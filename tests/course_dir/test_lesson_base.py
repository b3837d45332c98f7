"""The lessons that a course began with are kept."""

from __future__ import annotations

import shutil

from grading.course_dir.lesson_base import FOLDER, keep_base, kept_base, read_lessons, write_lessons

from ..support.course_builder import TINY_LESSONS, build_course


def test_a_base_is_complete_whatever_a_killed_process_left(tmp_path):
    files = read_lessons(build_course(tmp_path / "course"))
    root = tmp_path / "course"
    assert kept_base(root) is None
    keep_base(root, files)
    assert kept_base(root) == files
    (root / FOLDER).rename(root / f"{FOLDER}.old")  # killed between two renames
    (root / f"{FOLDER}.new" / "source").mkdir(parents=True)
    assert kept_base(root) == files
    keep_base(root, {"source/01_double.py": ""})
    assert kept_base(root) == {"source/01_double.py": ""}
    assert sorted(path.name for path in root.glob(".lessons*")) == [FOLDER]


def test_editors_copies_are_ignored_and_an_empty_folder_is_removed(tmp_path):
    root = build_course(tmp_path / "course")
    files, tests = read_lessons(root), root / "grader_tests" / TINY_LESSONS[0]
    shutil.copytree(tests / "double", tests / ".ipynb_checkpoints")
    (tests / "__pycache__").mkdir()
    assert read_lessons(root) == files
    shutil.rmtree(tests / ".ipynb_checkpoints")
    write_lessons(root, dict.fromkeys(path for path in files if TINY_LESSONS[0] in path))
    assert not tests.exists() and (root / "grader_tests" / TINY_LESSONS[1]).is_dir()
