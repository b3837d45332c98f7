"""What learning platforms let a teacher download, through the real `nbgrader zip_collect`."""

from __future__ import annotations

import json
import logging
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook
from nbgrader.apps import ZipCollectApp

from grading.nbgrader_plugins.collect import Found, read_name, slug, which_notebook

from .conftest import LESSON, course_config

LESSONS = ["02_softmax"]


@pytest.mark.parametrize(
    ("relative", "person", "number", "kind"),
    [
        ("Jane Smith_1234_assignsubmission_file_/02_softmax.ipynb", "Jane Smith", "1234", "moodle"),
        ("Jane Smith_1234_assignsubmission_file/Copy of 02_softmax.ipynb", "Jane Smith", "1234", "moodle"),
        ("c-5/Ana María_9_assignsubmission_file_/answers/02_softmax.ipynb", "Ana María", "9", "moodle"),
        ("Jane Smith_1234_assignsubmission_file_02_softmax.ipynb", "Jane Smith", "1234", "moodle"),
        ("smithjane_12345_678_02_softmax.ipynb", "smithjane", "12345", "canvas"),
        ("smithjane_late_12345_678_02_softmax-1.ipynb", "smithjane", "12345", "canvas"),
        ("submissions/smithjane_LATE_12345_678_Copy of 02_softmax (1).ipynb", "smithjane", "12345", "canvas"),
        ("jane/02_softmax.ipynb", "jane", "", "folder"),
        ("jane/my own softmax.ipynb", "jane", "", "folder"),
    ],
)
def test_names_of_platforms_are_understood(relative: str, person: str, number: str, kind: str) -> None:
    found = read_name("/" + relative, relative, LESSONS)
    assert isinstance(found, Found)
    assert (found.person, found.number, found.kind, found.notebook) == (person, number, kind, "02_softmax")


@pytest.mark.parametrize(
    ("relative", "reason"),
    [
        ("02_softmax.ipynb", "does not tell whose"),
        ("jane/03_queries_keys_values.ipynb", "none of this lesson's notebooks"),
        ("jane/02_softmax.ipynb.txt", "ends in .txt"),
        ("jane/notes", "ends in nothing"),
        ("__MACOSX/jane/._02_softmax.ipynb", ""),
        ("jane/.ipynb_checkpoints/02_softmax-checkpoint.ipynb", ""),
    ],
)
def test_other_names_are_refused_with_a_reason(relative: str, reason: str) -> None:
    told = read_name("/" + relative, relative, LESSONS)
    assert isinstance(told, str)
    assert reason in told
    assert bool(told) == bool(reason)


def test_later_versions_sort_after_earlier_ones() -> None:
    names = ["02_softmax", "02_softmax (1)", "02_softmax (2)", "02_softmax-10", "Copy of 02_softmax"]
    told = [which_notebook(name, LESSONS) for name in names]
    assert all(isinstance(one, tuple) and one[0] == "02_softmax" for one in told)
    orders = [one[1:] for one in told]
    assert orders == sorted(orders)
    assert which_notebook("Kopie von 02-Softmax", LESSONS)[0] == "02_softmax"


@pytest.mark.parametrize(
    ("name", "student"),
    [("Jane Smith", "jane_smith"), ("../../etc", "etc"), ("[ab]*", "ab"), ("王小明", "王小明"), ("..", "unnamed")],
)
def test_ids_made_of_names_are_safe_as_folders(name: str, student: str) -> None:
    assert slug(name) == student


@pytest.fixture
def collect(course: Any, caplog: pytest.LogCaptureFixture) -> Callable[[dict[str, bytes]], dict[str, str]]:
    """collect({path in archive/: bytes}): runs zip_collect; student -> source of the first cell collected."""

    def run(files: dict[str, bytes]) -> dict[str, str]:
        archive = course.root / "downloaded" / LESSON / "archive"
        for name, content in files.items():
            (archive / name).parent.mkdir(parents=True, exist_ok=True)
            (archive / name).write_bytes(content)
        app = ZipCollectApp.instance(config=course_config(course.root))
        try:
            app.initialize([LESSON, "--force"])
            app.update_config(course_config(course.root))
            app.log.propagate = True
            app.log.setLevel(logging.INFO)
            app.start()
        finally:
            ZipCollectApp.clear_instance()
        found = {}
        for path in (course.root / "submitted").glob(f"*/{LESSON}/*"):
            assert path.name == f"{LESSON}.ipynb"
            found[path.parts[-3]] = json.loads(path.read_text())["cells"][0]["source"]
        return found

    return run


def notebook(text: str) -> bytes:
    return json.dumps({"cells": [{"cell_type": "raw", "source": text}], "nbformat": 4}).encode()


def zipped(path: Path, files: dict[str, bytes]) -> bytes:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path.read_bytes()


def test_a_moodle_download_is_collected(collect: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    files = {
        f"Jane Smith_1234_assignsubmission_file_/{LESSON}.ipynb": notebook("jane"),
        f"Łukasz Żak_77_assignsubmission_file_/Copy of {LESSON}.ipynb": notebook("lukasz, copy"),
        f"Łukasz Żak_77_assignsubmission_file_/{LESSON}.ipynb": notebook("lukasz, untouched"),
        "Wrong Lesson_5_assignsubmission_file_/03_thirds.ipynb": notebook("wrong lesson"),
        "No Notebook_6_assignsubmission_file_/answers.pdf": b"%PDF",
    }
    assert collect({"Attention-02-1234.zip": zipped(tmp_path / "m.zip", files)}) == {
        "jane_smith": "jane",
        "łukasz_żak": "lukasz, copy",
    }
    said = caplog.text
    assert "03_thirds.ipynb is not collected: its name tells none of this lesson's notebooks" in said
    assert "answers.pdf is not collected: it is no notebook" in said
    assert f"{LESSON}.ipynb is not collected: " in said
    assert f"Rename it to <student>/{LESSON}.ipynb" in said


def test_a_canvas_download_is_collected_and_the_last_version_counts(collect: Any) -> None:
    found = collect(
        {
            f"smithjane_12345_600_{LESSON}.ipynb": notebook("first"),
            f"smithjane_late_12345_678_{LESSON}-1.ipynb": notebook("second"),
            f"smithjane_late_12345_1200_{LESSON}-2.ipynb": notebook("third"),
            f"jonesbo_9_601_Copy of {LESSON} (1).ipynb": notebook("bo"),
        }
    )
    assert found == {"smithjane": "third", "jonesbo": "bo"}


def test_students_are_found_in_the_gradebook(collect: Any, course: Any) -> None:
    with Gradebook(f"sqlite:///{course.root}/gradebook.db", "attention") as gradebook:
        gradebook.update_or_create_student("s001", first_name="Jane", last_name="Smith", lms_user_id="12345")
        gradebook.update_or_create_student("s002", first_name="Ana María", last_name="Pérez")
        gradebook.update_or_create_student("s003", first_name="Bo", last_name="Jones", email="bo@example.org")
    found = collect(
        {
            f"renamed_12345_600_{LESSON}.ipynb": notebook("by number"),
            f"Ana Maria Perez_8_assignsubmission_file_/{LESSON}.ipynb": notebook("by name"),
            f"jonesbo_9_601_{LESSON}.ipynb": notebook("by sorted name"),
        }
    )
    assert found == {"s001": "by number", "s002": "by name", "s003": "by sorted name"}


def test_two_people_of_one_name_are_kept_apart(collect: Any, caplog: pytest.LogCaptureFixture) -> None:
    found = collect(
        {
            f"Jane Smith_1_assignsubmission_file_/{LESSON}.ipynb": notebook("one"),
            f"Jane Smith_2_assignsubmission_file_/{LESSON}.ipynb": notebook("two"),
        }
    )
    assert found == {"jane_smith_1": "one", "jane_smith_2": "two"}
    assert "Several people are called jane_smith" in caplog.text


def test_archives_in_archives_and_broken_ones(collect: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    inner = zipped(tmp_path / "inner.zip", {f"work/{LESSON}.ipynb": notebook("inner")})
    tar = tmp_path / "bo.tar.gz"
    (tmp_path / "nb").write_bytes(notebook("tar"))
    with tarfile.open(tar, "w:gz") as archive:
        archive.add(tmp_path / "nb", f"{LESSON}.ipynb")
        link = tarfile.TarInfo("link.ipynb")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    outer = {
        "Jane Smith_1_assignsubmission_file_/hand-in.zip": inner,
        "Dan Broken_2_assignsubmission_file_/hand-in.zip": inner[:100],
        f"Eve Fine_3_assignsubmission_file_/{LESSON}.ipynb": notebook("eve"),
        f"../../../escaped/{LESSON}.ipynb": notebook("escaped"),
    }
    found = collect({"class.zip": zipped(tmp_path / "outer.zip", outer), "bo.tar.gz": tar.read_bytes()})
    assert found == {"jane_smith": "inner", "eve_fine": "eve", "bo": "tar", "escaped": "escaped"}
    assert not [
        path
        for path in tmp_path.rglob("escaped")
        if "extracted" not in path.parts and path.is_dir() and "submitted" not in path.parts
    ]
    assert "hand-in.zip was not unpacked (BadZipFile" in caplog.text


def test_an_archive_that_grows_too_large_is_not_unpacked(
    course: Any, collect: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w") as archive:
        archive.writestr("0.ipynb", b"0")
        archive.infolist()[0].file_size = 2**40  # what its directory claims
    found = collect(
        {
            "bomb.zip": (tmp_path / "bomb.zip").read_bytes(),
            f"jane/{LESSON}.ipynb": notebook("jane"),
        }
    )
    assert found == {"jane": "jane"}
    assert "bomb.zip was not unpacked (ValueError: it would unpack to" in caplog.text
