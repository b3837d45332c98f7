"""Platforms' names and whole downloads, through the real `nbgrader zip_collect`.

`platforms` gives the source of each format. Gradescope's export is its `assignment_N_export/` with
`submission_metadata.yml`, written by Ruby, whose keys begin with a colon; GitHub Classroom's is what `gh classroom
clone student-repos` makes.
"""

from __future__ import annotations

from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from nbgrader.api import Gradebook

from grading.plugins.lms.downloads import DownloadReader
from grading.plugins.lms.identities import IdentityTable
from grading.plugins.lms.platforms import Submitter, outermost
from grading.submitted.archives import Budget

from ...support.lms_downloads import moodle, notebook, zipped
from ...support.two_exercise_course import LESSON


def canvas(name: str, number: int, order: int, file: str = f"{LESSON}.ipynb", late: bool = False) -> str:
    return f"{name}_{'LATE_' * late}{number}_{order}_{file}"


def brightspace(name: str, number: int, when: str, file: str = f"{LESSON}.ipynb") -> str:
    return f"{number}-18437 - {name} - {when}/{file}"


def blackboard(
    user: str, when: str, name: str = "", file: str = f"{LESSON}.ipynb", title: str = "02 Halves"
) -> dict[str, bytes]:
    """Blackboard's files for one attempt: the submission, and a text about it."""
    head = f"{title}_{user}_attempt_{when}"
    about = f"Name: {name or user} ({user})\r\nAssignment: {title}\r\n"
    about += "Date Submitted: Friday, November 20, 2026 11:59 PM EST\r\nCurrent Grade: Needs Grading\r\n\r\n"
    about += "Comments:\r\nName: Jane Smith (jsmith)\r\n\r\nFiles:\r\n"
    about += f"\tOriginal filename: {file}\r\n"
    return {f"{head}.txt": about.encode(), f"{head}_{file}": notebook(f"{user}, {when}")}


def local(*when: int) -> str:
    """A local time as it appears in timestamp.txt."""
    return f"{datetime(*when).astimezone().astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"  # type: ignore[arg-type, misc]


@pytest.mark.parametrize(
    ("name", "owner", "own"),
    [
        ("Jane Smith_1234_assignsubmission_file_", Submitter("moodle", "Jane Smith", "1234"), ""),
        ("Jane Smith_1234_assignsubmission_file", Submitter("moodle", "Jane Smith", "1234"), ""),
        ("Jane Smith_1234_assignsubmission_onlinetext_", Submitter("moodle", "Jane Smith", "1234"), ""),
        ("Ana María_9_assignsubmission_file_a.ipynb", Submitter("moodle", "Ana María", "9"), "a.ipynb"),
        ("Eve_1_assignsubmission_file_Jane_2_assignsubmission_file_a", Submitter("moodle", "Eve", "1"), None),
        ("smithjane_12345_678_02_softmax.ipynb", Submitter("canvas", "smithjane", "12345"), "02_softmax.ipynb"),
        ("smithjane_late_12345_678_a-1.ipynb", Submitter("canvas", "smithjane", "12345"), "a-1.ipynb"),
        ("smithjane_LATE_12345_678_a (1).ipynb", Submitter("canvas", "smithjane", "12345"), "a (1).ipynb"),
        ("jane_doe_12345_678_02_a.ipynb", Submitter("canvas", "jane_doe", "12345"), "02_a.ipynb"),
        ("_12345_678_02_a.ipynb", Submitter("canvas", "", "12345"), "02_a.ipynb"),
        ("anon_x7Kd2_678_02_a.ipynb", Submitter("anonymous", "anon", "x7Kd2"), "02_a.ipynb"),
        ("LATE_anon_x7Kd2_678_02_a.ipynb", Submitter("anonymous", "anon", "x7Kd2"), "02_a.ipynb"),
        ("7-9 - Jane - Smith - Sep 24, 2026 926 PM", Submitter("brightspace", "Jane - Smith", "7"), ""),
        ("7-9 - Mary-Ann - 24 September 2026 2126 - a.ipynb", Submitter("brightspace", "Mary-Ann", "7"), "a.ipynb"),
        ("02_a_j_s_attempt_2026-11-20-23-59-00_b.ipynb", Submitter("blackboard", "02_a_j_s"), "b.ipynb"),
        ("02_j_attempt_2026-11-20-23-59-00_02_k_attempt_2026-11-20-23-59-00_b", Submitter("blackboard", "02_j"), None),
        ("jane", Submitter("folder", "jane"), ""),
        *(
            (name, Submitter("folder", name), "")
            for name in [
                "eve_1_2_smithjane_12345_678_a",
                "eve_1_2_02_jane_attempt_2026-11-20-23-59-00_b",
                "jane_7_assignsubmission_file_12345_678_a",
                "Eve_1_assignsubmission_file_02_jane_attempt_2026-11-20-23-59-00_b",
                "8-9 - Jane Smith - Sep 24, 2026 926 PM - Eve - Sep 24, 2026 927 PM",
            ]
        ),
    ],
)
def test_platforms_names_are_parsed(name: str, owner: Submitter, own: str | None) -> None:
    told = outermost(name, folder=True)
    assert told is not None and told.owner == owner
    assert told.own == own or own is None
    assert (outermost(name, folder=False) is None) == (owner.platform == "folder")


@pytest.mark.parametrize(
    "files",
    [
        {canvas("smithjane", 12345, 600): notebook("jane"), canvas("jane_doe", 9, 601): notebook("doe")},
        {f"anon_x7Kd2_678_{LESSON}.ipynb": notebook("jane"), f"LATE_anon_Ab3dE_679_{LESSON}.ipynb": notebook("doe")},
        {moodle("Jane Smith", 1): notebook("jane"), f"Doe_2_assignsubmission_file_{LESSON}.ipynb": notebook("doe")},
        {brightspace("Jane Smith", 1, "Sep 24, 2026 926 PM"): notebook("jane"), "index.html": b"",
         brightspace("Jane Doe", 2, "Sep 24, 2026 926 PM"): notebook("doe")},
        {"jane/notebooks/x.ipynb": notebook("jane"), "doe/notebooks/x.ipynb": notebook("doe")},
    ],
    ids=["canvas", "anonymous", "moodle", "brightspace", "folders"],
)  # fmt: skip
@pytest.mark.parametrize("inside", ["", "submissions/"])
def test_an_unpacked_download_belongs_to_several_people(collect: Any, files: dict[str, bytes], inside: str) -> None:
    """Even in a folder named like the zip, once the teacher marks it as shared."""
    found = collect({inside + name: content for name, content in files.items()})
    if inside:
        assert found == {}
        collect.answer(submissions="*")
        found = collect({})
    assert sorted(found.values()) == ["doe", "jane"]
    again = collect({f"{inside}late/{LESSON}.ipynb": notebook("somebody else")})
    assert sorted(again.values()) == ["doe", "jane", "somebody else"]


@pytest.mark.parametrize(
    "names", [["jane_02_halves.ipynb", "bob 02_halves.ipynb"], ["x.ipynb", "y.ipynb"], ["a.zip", "b.zip"]]
)
def test_a_file_without_a_platforms_name_is_asked_about_once(collect: Any, names: list[str]) -> None:
    first, second = (zipped({"x.ipynb": notebook(n)}) if n.endswith("zip") else notebook(n) for n in names)
    files = {"hand-ins.zip": zipped({names[0]: first, names[1]: second})}
    assert collect(files) == {}
    assert all(what == "whose?" for what in collect.statuses().values())
    collect.answer(**{names[0]: "jane", names[1]: "-"})
    assert collect({}) == {"jane": names[0]}
    assert sorted(collect.statuses().values()) == ["left out", "taken"]
    other = {"hand-ins.zip": zipped({names[0]: second})}
    assert collect(other) == {"jane": names[0]}, "another file of that name is not hers"


def test_an_answer_for_a_name_applies_in_other_lessons(collect: Any, class_list: Any) -> None:
    class_list(s1={"first_name": "Robert", "last_name": "Jones"})
    assert collect({"a.zip": zipped({moodle("Bob Jones", 71): notebook("bob")})}) == {}
    assert "no student in the class list has this name" in collect.outcome_line("Bob Jones")
    collect.answer(**{"Bob Jones": "s2"})
    assert collect({}) == {}
    assert "the class list has no student s2" in collect.outcome_line("Bob Jones")
    collect.answer(**{"Bob Jones": "s1"})
    assert collect({}) == {"s1": "bob"}
    assert collect({"a.zip": zipped({moodle("Bob Jones", 99): notebook("of a later lesson")})}) == {
        "s1": "of a later lesson"
    }
    both = {moodle("Bob Jones", 99): notebook("bob"), moodle("Bob Jones", 100): notebook("another")}
    assert collect({"a.zip": zipped(both)}) == {"s1": "of a later lesson"}
    assert collect.outcome_line("Bob Jones (99)") and collect.outcome_line("Bob Jones (100)")


def test_a_number_stays_one_persons(collect: Any) -> None:
    """Without a class list, two people share a name in Canvas; each does one lesson."""
    assert collect({canvas("smithjane", 12345, 600): notebook("one")}) == {"smithjane": "one"}
    assert collect.replace({canvas("smithjane", 999, 601): notebook("two")}) == {"smithjane": "one"}
    assert "smithjane already is smithjane (12345)" in collect.outcome_line("smithjane (999)")
    assert collect.replace({canvas("renamed", 12345, 602): notebook("new name")}) == {"smithjane": "new name"}


def test_the_class_list_separates_moodles_groups_from_names(collect: Any, class_list: Any) -> None:
    class_list(s1={"first_name": "Jane", "last_name": "Smith"}, s2={"first_name": "Mary-Ann", "last_name": "Jones"})
    files = {moodle("Group A-Jane Smith", 1): notebook("jane"), moodle("Team-B-Mary-Ann Jones", 2): notebook("mary")}
    assert collect({"Attention-02-1234.zip": zipped(files)}) == {"s1": "jane", "s2": "mary"}


def test_moodles_participants_without_names_are_kept_apart(collect: Any) -> None:
    files = {moodle("Participant", 71): notebook("one"), moodle("Participant", 72): notebook("two")}
    assert collect({"a.zip": zipped(files)}) == {"participant_71": "one", "participant_72": "two"}


METADATA = """---
submission_111:
  :submitters:
  - :name: Jane Smith
    :sid: 's001'
    :email: jane@example.org
  :created_at: 2026-11-20 23:59:00.123456000 Z
  :score: 0.0
  :results:
    output: |
      submission_222:
        :submitters: []
submission_222:
  :submitters:
  - :name: Bo Jones
    :sid:
    :email: Bo@example.org
  - :name: Ada Stone
    :sid: '42'
    :email:
  :created_at: 2026-11-21 01:00:00.000000000 Z
submission_333:
  :submitters:
  - :name: No Body
"""


@pytest.mark.parametrize("unpacked", [True, False])
def test_gradescopes_export_is_collected_with_its_groups(collect: Any, class_list: Any, unpacked: bool) -> None:
    class_list(s001={}, bo={"email": "bo@example.org"}, ada={"first_name": "Ada", "lms_user_id": "42"})
    export = "assignment_9100_export"
    files = {
        f"{export}/submission_metadata.yml": METADATA.encode(),
        f"{export}/submission_111/{LESSON}.ipynb": notebook("jane"),
        f"{export}/submission_111/submission_metadata.yml": METADATA.replace("Jane", "Mallory").encode(),
        f"{export}/submission_222/homework/{LESSON}.ipynb": notebook("group"),
        f"{export}/submission_333/{LESSON}.ipynb": notebook("nobody"),
        f"{export}/submission_444/{LESSON}.ipynb": notebook("not in the table"),
    }
    assert collect(files if unpacked else {"submissions.zip": zipped(files)}) == {
        "s001": "jane",
        "bo": "group",
        "ada": "group",
    }
    assert "no student in the class list" in collect.outcome_line("No Body")
    assert collect.outcome_line("submission_444")
    assert collect.timestamps()["s001"] == "2026-11-20 23:59:00 UTC"
    assert collect.timestamps()["ada"] == collect.timestamps()["bo"] == "2026-11-21 01:00:00 UTC"


@pytest.mark.parametrize("text", ["[", "- a", "submission_111: {':submitters': [*a]}", "a: &a [*a]"])
def test_a_damaged_gradescope_table_is_reported_and_no_student_is_guessed(collect: Any, text: str) -> None:
    export = {"submission_metadata.yml": text.encode(), f"submission_111/{LESSON}.ipynb": notebook("jane")}
    files = {f"assignment_1_export/{name}": content for name, content in export.items()}
    assert collect({"submissions.zip": zipped(files), f"bo/{LESSON}.ipynb": notebook("bo")}) == {"bo": "bo"}


def test_brightspaces_attempts_belong_to_one_person_and_the_last_counts(collect: Any) -> None:
    files = {
        brightspace("Jane Smith", 7, "Sep 24, 2026 926 PM"): notebook("second"),
        brightspace("Jane Smith", 7, "Sep 24, 2026 911 AM"): notebook("first"),
        brightspace("Bo", 8, "Oct 1, 2026 1200 AM", "mine.ipynb"): notebook("bo"),
        brightspace("Bo", 8, "Sep 30, 2026 1159 PM"): notebook("bo, before"),
        "index.html": b"<html>",
    }
    assert collect({"02 Halves Download.zip": zipped(files)}) == {"jane_smith": "second", "bo": "bo"}
    assert collect.timestamps() == {"jane_smith": local(2026, 9, 24, 21, 26), "bo": local(2026, 10, 1, 0, 0)}


def test_a_local_time_is_in_the_courses_zone_if_it_has_one(collect: Any, course: Any) -> None:
    with (course.root / "nbgrader_config.py").open("a") as config:
        config.write("\nc.LatePolicy.timezone = 'Asia/Kathmandu'\n")
    collect({"02 Halves Download.zip": zipped({brightspace("Bo", 8, "Oct 1, 2026 1200 AM"): notebook("bo")})})
    assert collect.timestamps() == {"bo": "2026-09-30 18:15:00 UTC"}


def test_blackboards_text_files_identify_the_attempts(collect: Any) -> None:
    files = {
        **blackboard("jane_smith", "2026-11-20-23-59-00", "Jane Smith"),
        **blackboard("jane_smith", "2026-11-21-08-00-00", "Jane Smith"),
        **blackboard("bob_smith", "2026-11-20-10-00-00"),
        **blackboard("eve", "2026-11-20-10-00-00", file=f"02 Halves_jsmith_attempt_2026-11-22-10-00-00_{LESSON}.ipynb"),
    }
    lost = blackboard("lost", "2026-11-20-10-00-00")
    files |= {name: content for name, content in lost.items() if name.endswith(".ipynb")}
    assert collect({"gradebook_ATTN_02.zip": zipped(files)}) == {
        "jane_smith": "jane_smith, 2026-11-21-08-00-00",
        "bob_smith": "bob_smith, 2026-11-20-10-00-00",
        "eve": "eve, 2026-11-20-10-00-00",
    }
    assert "with the user name, is missing" in collect.outcome_line("02 Halves_lost")
    assert collect.timestamps()["jane_smith"] == local(2026, 11, 21, 8, 0)


def test_blackboards_user_names_match_ids_in_the_class_list(collect: Any, class_list: Any) -> None:
    class_list(jane_smith={"first_name": "J"}, smith={"first_name": "S"}, s3={"first_name": "Bo", "last_name": "Jones"})
    files = blackboard("jane_smith", "2026-11-20-23-59-00") | blackboard("bjones", "2026-11-20-23-59-00", "Bo Jones")
    found = collect({"gradebook.zip": zipped(files)})
    assert found == {"jane_smith": "jane_smith, 2026-11-20-23-59-00", "s3": "bjones, 2026-11-20-23-59-00"}


@pytest.mark.full
@pytest.mark.parametrize("unpacked", [True, False])
def test_github_classrooms_repositories_are_collected(collect: Any, unpacked: bool) -> None:
    files = {}
    for login in ("jane-smith", "bo"):
        repository = f"02-halves-submissions/02-halves-{login}"
        files[f"{repository}/{LESSON}.ipynb"] = notebook(login)
        files |= {f"{repository}/.git/objects/{n}": b"" for n in range(3_000)}
    assert collect(files if unpacked else {"x.zip": zipped(files)}) == {"jane_smith": "jane-smith", "bo": "bo"}


def test_a_download_of_classroom_50_is_collected_from_a_folder_named_as_the_guide_says(collect: Any) -> None:
    """`gh teacher download -d attention-02-halves-submissions`: repositories, each with its results, and a table."""
    files = {"attention-02-halves-submissions/scores.csv": b"username,score\n"}
    for login in ("jane-smith", "bo"):
        repository = f"attention-02-halves-submissions/attention-02-halves-{login}"
        files |= {f"{repository}/{LESSON}.ipynb": notebook(login), f"{repository}/.git/HEAD": b""}
        files |= {f"{repository}/{name}.json": b"{}" for name in ("result", "results")}
    assert collect(files) == {"jane_smith": "jane-smith", "bo": "bo"}


def test_a_folder_of_classroom_50_that_a_teacher_names_has_its_owners_and_not_its_table(tmp_path: Any) -> None:
    download = tmp_path / "attention-02-halves-submissions"
    for login in ("jane-smith", "bo"):
        (download / f"attention-02-halves-{login}").mkdir(parents=True)
        (download / f"attention-02-halves-{login}" / f"{LESSON}.ipynb").write_bytes(notebook(login))
    (download / "scores.csv").write_text("username,score\n")
    with ExitStack() as opened:
        reader = DownloadReader(Budget, IdentityTable(tmp_path / "student-ids.csv"), opened)
        reader.path(download)
    assert {str(found.owner.number) for found in reader.found.submissions} == {"jane-smith", "bo"}


def test_a_late_mark_in_canvas_counts_as_just_after_the_due_date(collect: Any, course: Any) -> None:
    due = datetime(2026, 11, 20, 23, 0)  # noqa: DTZ001  # as nbgrader stores it
    with Gradebook(f"sqlite:///{course.root}/gradebook.db", "attention") as gradebook:
        gradebook.update_or_create_assignment(LESSON, duedate=due)
    files = {canvas("jane", 1, 600): notebook("in time"), canvas("bo", 2, 601, late=True): notebook("late")}
    assert collect(files) == {"jane": "in time", "bo": "late"}
    assert collect.timestamps() == {"bo": f"{due + timedelta(seconds=1)} UTC"}
