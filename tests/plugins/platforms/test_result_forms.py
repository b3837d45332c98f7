"""The result of one graded file in each platform's form, against the platforms' published fields."""

from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from jsonschema import Draft202012Validator

from grading.grader.verdict import CriterionVerdict, ExerciseVerdict, needs_a_person
from grading.notebooks.submitted_file import AGAIN
from grading.plugins.platforms.result_forms import FORMS, FileResult
from grading.plugins.platforms.verbs import FORMS as NAMES

from ...support.repository import ROOT

CONTROL = "an escape \x1b[31m, a null \x00 and \ud800"
RIGHT = ExerciseVerdict("double", 2, 2, "right", [CriterionVerdict("values", 2, 2, "right")])
PARTLY = ExerciseVerdict(
    "halve",
    3,
    1.5,
    "partly right",
    [
        CriterionVerdict("values", 1.5, 1.5, "right"),
        CriterionVerdict("gradients", 1, 0, "wrong", "halve(x)", finding=f"no gradient: {CONTROL}"),
        CriterionVerdict("errors", 0.5, 0, "not reached"),
    ],
    mistake="detached",
    explanation="Your result is detached.",
    advice="Leave out `detach()`.",
    section="Halving",
)
UNTOUCHED = ExerciseVerdict("third", 4, 0, "not started")
FORBIDDEN = ExerciseVerdict("fourth", 5, 0, "not allowed", explanation="You may not use torch.softmax here.")
OPEN = needs_a_person("fifth", 6, "the kernel was lost")
RESULT = FileResult(
    "02_halves", "Halves", [RIGHT, PARTLY, UNTOUCHED, FORBIDDEN, OPEN], {"why": 2.0}, seconds=7.26, sandboxed=False
)
UNREADABLE = FileResult(
    "02_halves", "Halves", [needs_a_person("double", 2, "unreadable")], unreadable=f"Empty. {AGAIN}"
)


def written(form: str, result: FileResult = RESULT) -> Any:
    text = FORMS[form].write(result)
    return ET.fromstring(text) if form == "junit" else json.loads(text)


def test_the_command_offers_every_form():
    assert list(NAMES) == list(FORMS)


@pytest.mark.parametrize("form", sorted(FORMS))
def test_every_form_has_the_points_the_mistake_and_what_is_open(form):
    text = FORMS[form].write(RESULT)
    assert "halve: gradients" in text or ("halve" in text and "gradients" in text)
    assert "Your result is detached." in text
    assert "may not use torch.softmax" in text
    assert "why" in text


def test_rows_are_criteria_or_whole_exercises():
    rows = list(RESULT.rows())
    assert [(row.number, row.title, row.earned, row.points, row.status) for row in rows] == [
        ("1.1", "double: values", 2, 2, "passed"),
        ("2.1", "halve: values", 1.5, 1.5, "passed"),
        ("2.2", "halve: gradients", 0, 1, "failed"),
        ("2.3", "halve: errors", 0, 0.5, "failed"),
        ("3", "third", 0, 4, "failed"),
        ("4", "fourth", 0, 5, "failed"),
        ("5", "fifth", 0, 6, "open"),
        ("6", "why", 0, 2, "open"),
    ]
    assert sum(row.points for row in rows) == RESULT.points == 22
    assert sum(row.earned for row in rows) == RESULT.earned == 3.5
    assert "Look at: Halving" in rows[2].text and "Look at: Halving" not in rows[3].text
    assert rows[3].headline == "No case of this requirement was reached."
    assert not rows[0].text
    assert RESULT.summary == (
        "3.5 of 22 points. These points are provisional: fifth, why are still graded by a person. "
        "Graded without the sandbox."
    )


def test_gradescope():
    whole = written("gradescope")
    assert whole["score"] == 3.5 and whole["execution_time"] == 7
    assert whole["visibility"] == "visible" and whole["stdout_visibility"] == "hidden"
    assert whole["extra_data"]["needs_a_person"] == ["fifth", "why"]
    tests = {test["name"]: test for test in whole["tests"]}
    assert sum(test["max_score"] for test in whole["tests"]) == 22
    assert tests["double: values"]["status"] == "passed"
    assert tests["third"]["status"] == "failed"
    assert "status" not in tests["fifth"] and "status" not in tests["why"]
    assert all(isinstance(test["output"], str) and test["output_format"] == "text" for test in whole["tests"])


def test_prairielearn():
    whole = written("prairielearn")
    assert whole["gradable"] is True and whole["score"] == pytest.approx(3.5 / 22)
    assert [test["points"] for test in whole["tests"]] == [2, 1.5, 0, 0, 0, 0, 0, 0]
    assert written("prairielearn", UNREADABLE) == {"gradable": False, "format_errors": [f"Empty. {AGAIN}"]}


def test_prairielearn_takes_a_megabyte():
    long = CriterionVerdict("values", 2, 0, "wrong", "x", finding="é" * 400_000)
    many = [ExerciseVerdict(f"e{i}", 2, 0, "wrong", [long]) for i in range(4)]
    text = FORMS["prairielearn"].write(FileResult("02_halves", "Halves", many))
    assert len(text.encode()) <= 1_000_000
    assert [test["name"] for test in json.loads(text)["tests"]] == [f"e{i}: values" for i in range(4)]


def test_classroom50(monkeypatch):
    given = {
        "CLASSROOM": "spring",
        "ASSIGNMENT": "softmax",
        "USERNAME": "ada",
        "SUBMISSION_TAG": "submit/1",
        "COMMIT_URL": "https://c",
        "RELEASE_URL": "https://r",
    }
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    for name in ("REVIEW_URL", "OWNER", "ASSIGNMENT_TYPE"):
        monkeypatch.delenv(name, raising=False)
    whole = written("classroom50")
    assert whole["schema"] == "classroom50/result/v1"
    assert [whole[name] for name in ("classroom", "assignment", "submission", "commit", "release", "review")] == [
        "spring", "softmax", "submit/1", "https://c", "https://r", "https://c",
    ]  # fmt: skip
    assert whole["owner"] == "ada" and whole["assignment_type"] == "individual"
    assert whole["score"] == 7 and whole["max-score"] == 44
    assert {"points-per-score", "summary"}.isdisjoint(whole), "the schema closes the list of fields"
    assert [test["points"] for test in whole["tests"]] == [2, 1.5, *[0] * 6]
    numbers = [test[key] for test in whole["tests"] for key in ("score", "max-score")]
    assert all(type(number) is int for number in [*numbers, whole["score"], whole["max-score"]])
    assert whole["score"] == sum(test["score"] for test in whole["tests"])
    assert [test["passed"] for test in whole["tests"]] == [True, True, *[False] * 6]
    assert [test["test-name"] for test in whole["tests"] if test["needs-a-person"]] == ["fifth", "why"]


def test_junit():
    root = written("junit")
    suites = {suite.get("name"): suite for suite in root}
    assert [suite.get("tests") for suite in root] == ["1", "3", "1", "1", "1", "1"]
    assert suites["halve"].get("failures") == "2" and suites["fifth"].get("skipped") == "1"
    failure = suites["halve"].findall("testcase/failure")[0]
    assert failure.get("message") == "Your result is detached."
    assert {p.get("name"): p.get("value") for p in suites["halve"].iter("property")} == {"points": "1.5", "most": "3"}
    unreadable = written("junit", UNREADABLE)
    assert unreadable.find("testsuite").get("errors") == "1"
    assert unreadable.find("testsuite/testcase/error").get("message") == f"Empty. {AGAIN}"


@pytest.mark.parametrize("result", [RESULT, UNREADABLE], ids=["a whole result", "an unreadable file"])
def test_plain_json_fits_its_schema(result):
    schema = json.loads((ROOT / "docs" / "result.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(written("json", result))
    assert [exercise["mistake"] for exercise in written("json")["exercises"]] == ["", "detached", "", "", ""]
