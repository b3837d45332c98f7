"""Whose a file is comes from the outermost name that the platform gave, and from nothing that a student can write.

In each test Mallory tries to hand in as Jane Smith, who handed in herself.
"""

from __future__ import annotations

from typing import Any

import pytest
from nbgrader.api import Gradebook

from ...halves import LESSON, hand_in
from .conftest import moodle, notebook, submitted, tarred, zipped

FORGED = {
    "moodle": moodle("Jane Smith", 1),
    "moodle, flat": f"Jane Smith_1_assignsubmission_file_{LESSON}.ipynb",
    "canvas": f"smithjane_1_999999_{LESSON}-9.ipynb",
    "folder": f"jane_smith/{LESSON}.ipynb",
    "outside": f"../../{moodle('Jane Smith', 1)}",
    "at the root": f"/jane_smith/{LESSON}.ipynb",
}


def packed(name: str, forged: bytes) -> dict[str, bytes]:
    """Archives that hold a notebook under a forged name, by file name."""
    return {
        "hand-in.zip": zipped({name: forged}),
        "hand-in.tar.gz": tarred({name: forged}),
        "twice.zip": zipped({"inner.zip": zipped({name: forged})}),
        "Jane Smith_1_assignsubmission_file_.zip": zipped({f"{LESSON}.ipynb": forged}),
        "smithjane_1_999999_x.zip": zipped({f"{LESSON}.ipynb": forged}),
    }


@pytest.mark.parametrize("forged", FORGED)
@pytest.mark.parametrize("as_zip", [True, False], ids=["zip", "unpacked"])
@pytest.mark.parametrize("platform", ["moodle", "canvas", "folders"])
def test_names_inside_a_submission_never_decide_whose_it_is(
    collect: Any, platform: str, as_zip: bool, forged: str
) -> None:
    mine, janes, student = {
        "moodle": (moodle("Mallory", 9, ""), moodle("Jane Smith", 1), "jane_smith"),
        "canvas": ("mallory_9_700_", f"smithjane_1_600_{LESSON}.ipynb", "smithjane"),
        "folders": ("mallory/", f"jane_smith/{LESSON}.ipynb", "jane_smith"),
    }[platform]
    files = {mine + name: content for name, content in packed(FORGED[forged], notebook("mallory")).items()}
    files[janes] = notebook("jane")
    found = collect({"class.zip": zipped(files)} if as_zip else files)
    assert found.pop(student) == "jane"
    assert set(found) <= {"mallory"}


@pytest.mark.parametrize("as_zip", [True, False], ids=["zip", "unpacked"])
def test_folders_inside_a_submission_never_decide_whose_it_is(collect: Any, as_zip: bool) -> None:
    files = {
        moodle("Mallory", 9, f"work/jane_smith/{LESSON}.ipynb"): notebook("mallory, deeper"),
        moodle("Mallory", 9, moodle("Jane Smith", 1, f"Copy of {LESSON}.ipynb")): notebook("mallory"),
        moodle("Jane Smith", 1): notebook("jane"),
    }
    found = collect({"class.zip": zipped(files)} if as_zip else files)
    assert found == {"jane_smith": "jane", "mallory": "mallory"}


@pytest.mark.parametrize(
    "second",
    [
        {moodle("jane smith", 2): notebook("jane, of another number")},
        {f"Jane_Smith/{LESSON}.ipynb": notebook("a folder")},
        {"later.zip": zipped({moodle("Jane Smith", 1): notebook("a second download")})},
        {f"JANE SMITH/{LESSON}.ipynb": notebook("upper case")},
    ],
    ids=["number", "folder", "download", "case"],
)
def test_two_sources_for_one_person_are_refused_and_nothing_is_overwritten(
    collect: Any, course: Any, caplog: pytest.LogCaptureFixture, second: dict[str, bytes]
) -> None:
    with Gradebook(f"sqlite:///{course.root}/gradebook.db", "attention") as gradebook:
        gradebook.update_or_create_student("jsmith", first_name="Jane", last_name="Smith")
    hand_in(course.root, "jsmith", notebook("here before"))
    first = zipped({moodle("Jane Smith", 1): notebook("jane"), moodle("Bo", 3): notebook("bo")})
    assert collect({"class.zip": first} | second) == {"jsmith": "here before", "bo": "bo"}
    assert caplog.text.count("is the same student, jsmith") == 2


def test_forms_of_one_name_are_one_person(collect: Any, told: Any) -> None:
    composed, decomposed = "Zo\u00eb", "Zoe\u0308"
    found = collect({"a.zip": zipped({f"{composed}/{LESSON}.ipynb": b"1", f"{decomposed}/{LESSON}.ipynb": b"2"})})
    assert found == {}
    assert f"{decomposed} in a.zip is the same student" in told(f"{composed} in a.zip is not collected")


def test_a_borrowed_name_does_not_stand_against_the_gradebooks_number(collect: Any, course: Any, told: Any) -> None:
    with Gradebook(f"sqlite:///{course.root}/gradebook.db", "attention") as gradebook:
        gradebook.update_or_create_student("jsmith", first_name="Jane", last_name="Smith", lms_user_id="12345")
    found = collect({f"smithjane_999_1_{LESSON}.ipynb": b"mallory's", f"bo_3_2_{LESSON}.ipynb": notebook("bo")})
    assert found == {"bo": "bo"}
    assert "the gradebook's student of that name has another number" in told("smithjane (999)")


def test_what_tells_nobodys_name_is_told_and_left(collect: Any, told: Any) -> None:
    files = {
        f"{LESSON}.ipynb": notebook("nobody's"),
        "class.zip": zipped({f"{LESSON}.ipynb": b"", "hand-in.zip": b"", "../../up.ipynb": b"", "/etc/a.ipynb": b""}),
        "loose.tar.gz": tarred({moodle("Jane Smith", 1): notebook("jane")}),
        "!!!/mine.ipynb": notebook("no letter"),
        f"jane/{LESSON}.ipynb": notebook("jane"),
    }
    assert collect(files) == {"jane": "jane"}
    assert told(f"{LESSON}.ipynb; loose.tar.gz in the archive folder: not collected, since the name does not tell")
    assert told(f"{LESSON}.ipynb; hand-in.zip; ../../up.ipynb and 1 more in class.zip: not collected")
    assert "its name has no letter or digit" in told("!!! is not collected")


@pytest.mark.parametrize(
    "files",
    [
        {moodle("Jane", 1): b"1", moodle("Bo", 2): b"2"},
        {f"jane_1_2_{LESSON}.ipynb": b"1"},
        {f"jane/{LESSON}.ipynb": b"1", f"bo/{LESSON}.ipynb": b"2"},
    ],
    ids=["moodle", "canvas", "folders"],
)
def test_a_folder_of_several_people_is_no_student(
    collect: Any, course: Any, told: Any, files: dict[str, bytes]
) -> None:
    assert collect({f"autumn/{name}": content for name, content in files.items()}) == {}
    assert "holds names as a platform gives" in told("autumn") or "nothing tells which file counts" in told("autumn")
    assert submitted(course.root) == {}
