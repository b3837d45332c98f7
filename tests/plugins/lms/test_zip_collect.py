"""Downloads from learning platforms, through the real `nbgrader zip_collect`."""

from __future__ import annotations

from typing import Any

import pytest

from course.which_counts import which_notebook
from grading.submitted.file_names import slug

from ...support.lms_downloads import moodle, notebook, tarred, zipped
from ...support.two_exercise_course import LESSON

LESSONS = ["02_softmax"]


def test_later_versions_rank_after_earlier_ones() -> None:
    names = ["mine", "02_softmax", "02_softmax (1)", "02_softmax (2)", "02_softmax-10", "Copy of 02_softmax"]
    told = [which_notebook(name, LESSONS) for name in names]
    assert all(one is not None and one.notebook == "02_softmax" for one in told)
    assert told == sorted(told)  # type: ignore[type-var]
    assert which_notebook("Kopie von 02-Softmax", LESSONS) == ("02_softmax", True, 2, 0)
    assert which_notebook("03_queries_keys_values", LESSONS) is None


@pytest.mark.parametrize(
    "copy", ["Copy of {}", "{} (2)", "Kopie von {}", "Cópia de {}", "{} - Copy", "{}的副本", "Copy of Copy of {}"]
)
def test_copies_in_one_folder_belong_to_one_person(collect: Any, copy: str) -> None:
    files = {
        f"jane/{LESSON}.ipynb": b"1",
        f"jane/{copy.format(LESSON)}.ipynb": notebook("copy"),
        "jane/scratch.ipynb": b"",
    }
    assert collect(files) == {"jane": "copy"}


@pytest.mark.parametrize(
    ("name", "student"),
    [("Jane Smith", "jane_smith"), ("../../etc", "etc"), ("[ab]*", "ab"), ("王小明", "王小明"), ("..", "")],
)
def test_ids_made_from_names_are_safe_as_folders(name: str, student: str) -> None:
    assert slug(name) == student


def test_a_moodle_download_is_collected(collect: Any, capsys: pytest.CaptureFixture[str]) -> None:
    files = {
        moodle("Jane Smith", 1234): notebook("jane"),
        moodle("Łukasz Żak", 77, f"Copy of {LESSON}.ipynb"): notebook("lukasz, copy"),
        moodle("Łukasz Żak", 77): notebook("lukasz, untouched"),
        moodle("Łukasz Żak", 77, "scratch.ipynb"): notebook("lukasz, something else"),
        "Flat Name_8_assignsubmission_file_hand-in.zip": zipped({f"work/{LESSON}.ipynb": notebook("flat")}),
        moodle("Wrong Lesson", 5, "03_thirds.ipynb"): notebook("wrong lesson"),
        moodle("No Notebook", 6, "answers.pdf"): b"%PDF",
        f"__MACOSX/{moodle('Jane Smith', 1234, '._02.ipynb')}": b"left there by a system",
    }
    assert collect({"Attention-02-1234.zip": zipped(files)}) == {
        "jane_smith": "jane",
        "łukasz_żak": "lukasz, copy",
        "flat_name": "flat",
    }
    line = collect.outcome_line("Wrong Lesson (5) in Attention-02-1234.zip")
    assert "skipped: it has no notebook of this lesson" in line
    assert "03_thirds.ipynb" in collect.outcome_line("Wrong Lesson")
    assert "answers.pdf" in collect.outcome_line("No Notebook (6)")
    assert (
        f"put the file that counts at submitted/<student>/{LESSON}/{LESSON}.ipynb yourself." in capsys.readouterr().out
    )
    assert collect.statuses()["Łukasz Żak (77) in Attention-02-1234.zip"] == "taken"


def test_a_canvas_download_is_collected_and_the_last_version_counts(collect: Any) -> None:
    files = {
        f"smithjane_12345_600_{LESSON}.ipynb": notebook("first"),
        f"smithjane_late_12345_678_{LESSON}-1.ipynb": notebook("second"),
        f"smithjane_late_12345_1200_{LESSON}-2.ipynb": notebook("third"),
        f"jonesbo_9_601_Copy of {LESSON} (1).ipynb": notebook("bo"),
        "zakl_10_602_hand-in.zip": zipped({f"work/{LESSON}.ipynb": notebook("lukasz")}),
    }
    expected = {"smithjane": "third", "jonesbo": "bo", "zakl": "lukasz"}
    assert collect(files) == expected, "unpacked by the teacher"


def test_a_zip_from_canvas_is_collected_in_the_same_way(collect: Any) -> None:
    files = {
        f"smithjane_12345_600_{LESSON}.ipynb": notebook("first"),
        f"smithjane_LATE_12345_678_{LESSON}-1.ipynb": notebook("second"),
    }
    assert collect({"submissions.zip": zipped(files)}) == {"smithjane": "second"}


def test_plain_folders_are_collected_zipped_or_not(collect: Any) -> None:
    files = {
        f"jane/{LESSON}.ipynb": notebook("jane"),
        f"jane/old/{LESSON}.ipynb": notebook("jane, further from the top"),
        "bo/hand-in.tar.gz": tarred({f"./{LESSON}.ipynb": notebook("bo")}),
        "more.zip": zipped({"./": b"", f"./ada/{LESSON}.IPYNB": notebook("ada"), "cy\\mine.ipynb": notebook("cy")}),
    }
    assert collect(files) == {"jane": "jane", "bo": "bo", "ada": "ada", "cy": "cy"}


def test_students_are_found_in_the_class_list(collect: Any, class_list: Any) -> None:
    class_list(
        s001={"first_name": "Jane", "last_name": "Smith", "lms_user_id": "12345"},
        s002={"first_name": "Ana María", "last_name": "Pérez"},
        s003={"first_name": "Bo", "last_name": "Jones", "email": "bo@example.org"},
    )
    found = collect(
        {
            f"renamed_12345_600_{LESSON}.ipynb": notebook("by number"),
            moodle("Ana Maria Perez", 8): notebook("by name"),
            f"jonesbo_9_601_{LESSON}.ipynb": notebook("by sorted name"),
        }
    )
    assert found == {"s001": "by number", "s002": "by name", "s003": "by sorted name"}


def test_two_new_people_with_one_name_are_asked_about_and_kept_apart(collect: Any) -> None:
    files = {moodle("Jane Smith", 1): notebook("one"), moodle("Jane Smith", 2): notebook("two")}
    assert collect(files) == {}
    assert "several people have this name" in collect.outcome_line("Jane Smith (1)")


def test_a_name_of_several_known_students_is_asked_about(collect: Any, class_list: Any) -> None:
    class_list(jane_smith={"first_name": "Jane", "last_name": "Smith"}, s2={"first_name": "Jane", "last_name": "Smith"})
    found = collect({moodle("Jane Smith", 1): notebook("which?"), f"s2/{LESSON}.ipynb": notebook("by id")})
    assert found == {"s2": "by id"}
    assert "several students in the class list have this name: jane_smith, s2" in collect.outcome_line("Jane Smith (1)")
