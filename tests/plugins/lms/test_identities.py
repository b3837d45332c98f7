"""The platform's outermost name decides a file's owner; no student can forge it.

In each test Mallory tries to hand in as Jane Smith, who handed in herself.
"""

from __future__ import annotations

from typing import Any

import pytest

from ...support.lms_downloads import moodle, notebook, tarred, zipped
from ...support.two_exercise_course import LESSON, submit_file
from .conftest import submitted

FORGED = {
    "moodle": moodle("Jane Smith", 1),
    "moodle, flat": f"Jane Smith_1_assignsubmission_file_{LESSON}.ipynb",
    "canvas": f"smithjane_1_999999_{LESSON}-9.ipynb",
    "folder": f"jane_smith/{LESSON}.ipynb",
    "outside": f"../../{moodle('Jane Smith', 1)}",
    "at the root": f"/jane_smith/{LESSON}.ipynb",
}


def packed(name: str, forged: bytes) -> dict[str, bytes]:
    """Archives with a notebook under a forged name, by file name."""
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
def test_names_inside_a_submission_never_decide_its_owner(
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
def test_folders_inside_a_submission_never_decide_its_owner(collect: Any, as_zip: bool) -> None:
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
def test_two_sources_for_one_person_are_not_collected_and_nothing_is_overwritten(
    collect: Any, course: Any, class_list: Any, second: dict[str, bytes]
) -> None:
    class_list(jsmith={"first_name": "Jane", "last_name": "Smith"}, bo={"first_name": "Bo"})
    submit_file(course.root, "jsmith", notebook("here before"))
    first = zipped({moodle("Jane Smith", 1): notebook("jane"), moodle("Bo", 3): notebook("bo")})
    assert collect({"class.zip": first} | second) == {"jsmith": "here before", "bo": "bo"}
    assert sum(one.failed for one in collect.outcomes) == (1 if "later.zip" in second else 2)


def test_forms_of_one_name_are_one_person(collect: Any) -> None:
    composed, decomposed = "Zo\u00eb", "Zoe\u0308"
    found = collect({"a.zip": zipped({f"{composed}/{LESSON}.ipynb": b"1", f"{decomposed}/{LESSON}.ipynb": b"2"})})
    assert found == {}
    assert "whose?: several people have this name, or similar names" in collect.outcome_line(f"{composed} in a.zip")
    assert "whose?: several people have this name, or similar names" in collect.outcome_line(f"{decomposed} in a.zip")


def test_a_borrowed_name_does_not_override_the_class_lists_number(collect: Any, class_list: Any) -> None:
    class_list(jsmith={"first_name": "Jane", "last_name": "Smith", "lms_user_id": "12345"}, bo={"first_name": "Bo"})
    found = collect({f"smithjane_999_1_{LESSON}.ipynb": b"mallory's", f"bo_3_2_{LESSON}.ipynb": notebook("bo")})
    assert found == {"bo": "bo"}
    line = collect.outcome_line("smithjane (999)")
    assert "whose?: it has the name of jsmith, but jsmith has another number there" in line


def test_a_namesake_does_not_replace_a_match_by_number(collect: Any, class_list: Any) -> None:
    class_list(jsmith={"first_name": "Jane", "last_name": "Smith", "lms_user_id": "12345"})
    files = {
        f"smithjane_12345_7_{LESSON}.ipynb": notebook("jane"),
        f"smithjane_999_8_{LESSON}.ipynb": notebook("other"),
    }
    for _ in range(2):
        assert collect(files) == {"jsmith": "jane"}
        assert "another file has jsmith's own id" in collect.outcome_line("smithjane (999)")
    assert collect({moodle("Jane Smith", 1): notebook("jane on Moodle")}) == {"jsmith": "jane"}
    assert "another file has jsmith's own id" in collect.outcome_line("Jane Smith (1)")


@pytest.mark.parametrize("chosen", ["smithjane_12345", "smithjane_12345_600", "smithjane_12345_600_x", "anon_abcde"])
def test_a_name_that_looks_like_a_number_matches_no_student(collect: Any, class_list: Any, chosen: str) -> None:
    """Canvas removes underscores around digits from names, but not all of them.

    It keeps those that other characters separated, and those at the end.
    """
    class_list(jsmith={"first_name": "Jane", "last_name": "Smith", "lms_user_id": "12345"})
    name = f"{chosen}_999_678_{LESSON}.ipynb"
    assert collect({"submissions.zip": zipped({name: notebook("mallory")})}) == {}
    assert collect.outcome_line(chosen).startswith(name)


def test_files_without_an_owners_name_are_asked_about_or_reported(collect: Any) -> None:
    files = {
        f"{LESSON}.ipynb": notebook("nobody's"),
        "class.zip": zipped({f"{LESSON}.ipynb": b"", "hand-in.zip": b"", "../../up.ipynb": b"", "/etc/a.ipynb": b""}),
        "loose.tar.gz": tarred({moodle("Jane Smith", 1): notebook("jane")}),
        "!!!/mine.ipynb": notebook("no letter"),
        "notes.txt": b"",
        f"jane/{LESSON}.ipynb": notebook("jane"),
    }
    assert collect(files) == {"jane": "jane"}
    asked = [one.owner.partition(" (")[0] for one in collect.outcomes if one.what == "whose?"]
    assert sorted(asked) == sorted(["!!!", LESSON + ".ipynb", LESSON + ".ipynb", "hand-in.zip", "loose.tar.gz"])
    assert "its name has no letter or digit" in collect.outcome_line("!!!")
    assert collect.outcome_line("../../up.ipynb; /etc/a.ipynb").endswith(
        "no student matches its name, and it is not a notebook"
    )
    assert "left out" in collect.outcome_line("notes.txt")


@pytest.mark.parametrize(
    "files",
    [
        {moodle("Jane", 1): b"1", moodle("Bo", 2): b"2"},
        {f"jane_1_2_{LESSON}.ipynb": b"1"},
        {f"anon_x7Kd2_678_{LESSON}.ipynb": b"1"},
        {f"02_jane_attempt_2026-11-20-23-59-00_{LESSON}.ipynb": b"1"},
        {f"jane/{LESSON}.ipynb": b"1", f"bo/{LESSON}.ipynb": b"2"},
        {"jane/notebooks/x.ipynb": b"1", "bo/notebooks/deeper/x.ipynb": b"2"},
        {"jane/notebooks/x.ipynb": b"1"},
        {f"jane_{LESSON}.ipynb": b"1", f"bo_smith_{LESSON}.ipynb": b"2"},
        {"jane.ipynb": b"1", "bo.ipynb": b"2"},
    ],
    ids=["moodle", "canvas", "anonymous", "blackboard", "folders", "deeper", "one deep", "flat", "flat, any"],
)
def test_a_folder_of_several_people_is_not_a_student(collect: Any, course: Any, files: dict[str, bytes]) -> None:
    assert collect({f"autumn/{name}": content for name, content in files.items()}) == {}
    assert "whose?" in collect.outcome_line("autumn") and "* if it is several people's" in collect.outcome_line(
        "autumn"
    )
    assert submitted(course.root) == {}


def test_an_exact_number_overrides_an_earlier_match_by_name(collect: Any, class_list: Any) -> None:
    class_list(s1={"first_name": "Jane", "last_name": "Smith"})
    assert collect({f"smithjane_999_600_{LESSON}.ipynb": notebook("another Jane")}) == {"s1": "another Jane"}
    class_list(s1={"lms_user_id": "12345"})
    assert collect({f"smithjane_12345_500_{LESSON}.ipynb": notebook("jane")}) == {"s1": "another Jane"}
    assert collect.statuses() == {"smithjane (12345)": "which counts?", "smithjane (999)": "whose?"}
    assert collect({}, undecided="replace") == {"s1": "jane"}
    assert collect.statuses() == {"smithjane (12345)": "replaced", "smithjane (999)": "whose?"}
    collect.answer(smithjane="s1")
    assert collect({}) == {"s1": "jane"}
    assert "s1 has number 12345 in the class list" in collect.outcome_line("smithjane (999)")


def test_an_answer_does_not_make_two_numbers_one_person(collect: Any) -> None:
    files = {f"smithjane_{n}_{n}00_{LESSON}.ipynb": notebook(str(n)) for n in (1, 2)}
    assert collect(files) == {}
    collect.answer(smithjane="jane")
    assert collect({}) == {}
    assert "it would belong to jane, and so would smithjane (2)" in collect.outcome_line("smithjane (1)")


def test_equal_names_on_two_platforms_are_not_one_person(collect: Any, class_list: Any) -> None:
    class_list(s1={"first_name": "Jane", "last_name": "Smith"})
    files = {moodle("Jane Smith", 1): notebook("moodle"), f"smithjane_2_200_{LESSON}.ipynb": notebook("canvas")}
    for _ in range(2):
        assert collect(files) == {}
        assert sorted(collect.statuses().values()) == ["whose?", "whose?"]


@pytest.mark.full
def test_a_folder_of_hundreds_of_people_has_a_budget_for_each(collect: Any) -> None:
    people = {
        f"x/Student {n}/{file}": notebook(str(n)) for n in range(60) for file in (f"{LESSON}.ipynb", "a/b", "a/c")
    }
    assert collect(people) == {}
    collect.answer(x="*")
    assert len(collect({}, max_files=20)) == 60


def test_an_exact_number_overrides_a_match_by_name_in_another_lesson(collect: Any, class_list: Any) -> None:
    class_list(s1={"first_name": "Jane", "last_name": "Smith", "lms_user_id": "12345"})
    assert collect({moodle("Jane Smith", 1): notebook("on Moodle")}) == {"s1": "on Moodle"}
    assert collect({f"renamed_12345_600_{LESSON}.ipynb": notebook("on Canvas")}) == {"s1": "on Moodle"}
    assert collect.statuses()["renamed (12345)"] == "which counts?"
    assert "but renamed (12345) has that student's exact id" in collect.outcome_line("Jane Smith (1)")
    assert collect({}, undecided="replace") == {"s1": "on Canvas"}
