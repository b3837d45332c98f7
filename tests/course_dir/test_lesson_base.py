"""The lessons that a course began with are kept, or recognised if it is older."""

from __future__ import annotations

import json
import shutil
import zipfile

import pytest

from grading.authoring.merge_course import merge_course
from grading.course_dir.lesson_base import (
    FOLDER,
    PUBLISHED,
    keep_base,
    kept_base,
    read_lessons,
    recognised_base,
    record_published,
    write_lessons,
)

from ..support.course_builder import TINY_LESSONS, build_course
from ..support.repository import ROOT

SOFTMAX, TEXT = "grader_tests/02_softmax/softmax/contract.py", "source/02_softmax.py"


@pytest.fixture
def course_of_0_1(tmp_path):
    with zipfile.ZipFile(ROOT / "tests" / "data" / "course-0.1.0.zip") as archive:
        archive.extractall(tmp_path)
    return read_lessons(tmp_path / "course-0.1.0")


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


@pytest.mark.full
def test_a_lesson_of_version_0_1_is_recognised_and_fully_updated(course_of_0_1):
    new = read_lessons(ROOT)
    merge = merge_course(recognised_base(course_of_0_1, new), course_of_0_1, new)
    brought, published = {*merge.changed, *merge.new}, json.loads(PUBLISHED.read_text())
    lessons = {path: text for path, text in new.items() if any(name in path for name in brought)}
    assert merge.changed == ["02_softmax", "05_causal_mask", "08_training"]
    assert {path: text for path, text in merge.outcome.items() if "shared/" not in path} == lessons
    assert not any(f"source/{name}.py" in published for name in merge.new)
    assert "04_scaling" in merge.removed  # the course had removed it


def test_a_teachers_changes_stay_and_are_reported(course_of_0_1):
    new = read_lessons(ROOT)
    ours = {**course_of_0_1, SOFTMAX: course_of_0_1[SOFTMAX].replace("points=7", "points=8")}
    base = recognised_base(ours, new)
    assert base[SOFTMAX] == ""  # its text is unknown
    merge = merge_course(base, ours, new).merges["02_softmax"]
    assert [piece.path for piece in merge.conflicts] == [SOFTMAX]
    assert not any(path.startswith("grader_tests/02_softmax/softmax/") for path in merge.files)
    assert recognised_base({"source/01_mine.py": "x = 1\n"}, new) == {}


def test_new_published_hashes_are_added_to_the_old_ones(tmp_path):
    record = shutil.copy(PUBLISHED, tmp_path)
    record_published(build_course(tmp_path / "course"), tmp_path / PUBLISHED.name)
    known, before = (json.loads(path.read_text()) for path in (tmp_path / PUBLISHED.name, PUBLISHED))
    assert set(known) - set(before) == set(read_lessons(tmp_path / "course"))
    assert {path: known[path] for path in before} == before, record
