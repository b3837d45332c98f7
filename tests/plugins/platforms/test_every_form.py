"""Whole submissions of the corpus get the verdicts of `grading grade` from `grade-file`, in each form.

One half of them is tried in one week, the other half in the next. What a form says is read back from its text, by the
fields that its platform reads.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from jsonschema import Draft202012Validator

from grading.cli import main
from grading.course import Course
from grading.exercises.lesson import load_lesson
from grading.grader.verdict import ExerciseVerdict
from grading.plugins.platforms.grade_file import grade_file
from grading.plugins.platforms.result_forms import FORMS

from ...support.canaries import Canaries
from ...support.corpus import ROOT, Submission, cases, selected_cases
from ...support.course_builder import build_course
from ...support.repository import SEED, of_this_week
from ...support.shared_folders import BuildOnce

LIMITS = """
c.ExecutePreprocessor.timeout = 4
c.JudgedExecute.limits = {"memory": 1536 * 2**20, "disk": 64 * 2**20, "processes": 64}
"""
JUDGED = ("right", "partly right", "wrong")  # by criteria, with points of their own
STATES = {"right": "passed", "needs a person": "open"}  # of exercises that were not; others have failed
Rows = dict[str, tuple[float, float, str]]  # "exercise: criterion" -> points, maximum, "passed", "failed" or "open"

QUICK = ("broken-truncated", "forge-answer-claims-a-score", "tamper-deleted-check", "wrong-not-allowed")
OF_THIS_WEEK = of_this_week(cases(), 2, always=[case for case in cases() if case.name in QUICK])

# The fields that platforms read, by their documentation (docs/platforms.md has the addresses and dates)
GRADESCOPE = {"score", "execution_time", "output", "output_format", "visibility", "stdout_visibility", "tests"}
GRADESCOPE |= {"test_output_format", "test_name_format", "extra_data", "leaderboard"}
GRADESCOPE_TEST = {"score", "max_score", "status", "name", "name_format", "number", "output", "output_format"}
GRADESCOPE_TEST |= {"tags", "visibility", "extra_data"}
PRAIRIELEARN = {"gradable", "score", "message", "output", "images", "tests", "format_errors"}
PRAIRIELEARN_TEST = {"name", "description", "points", "max_points", "message", "output", "images"}
CLASSROOM50 = {"schema", "classroom", "assignment", "owner", "assignment_type", "submission", "commit", "release"}
CLASSROOM50 |= {"review", "datetime", "score", "max-score", "tests"}
CLASSROOM50_TEST = {"test-name", "passed", "score", "max-score"}


@dataclass(frozen=True)
class Grade:
    """What a grade comes to: the points, the maximum, and the rows."""

    points: float
    most: float
    rows: Rows

    @property
    def open(self) -> list[str]:
        """Exercises that need a person."""
        return [title for title, (_, _, state) in self.rows.items() if state == "open"]

    @property
    def all_open(self) -> bool:
        return len(self.open) == len(self.rows)


@pytest.fixture(scope="module")
def corpus(request: pytest.FixtureRequest, build_course_once: BuildOnce) -> Path:
    """A course in which `grading grade` has graded the selected submissions; `graded` is a copy."""
    handed_in = selected_cases(request)

    def build(root: Path) -> None:
        build_course(root, sorted({case.lesson for case in handed_in}), config=LIMITS, seed=SEED, release=True)
        with Canaries() as canaries:
            for case in handed_in:
                case.hand_in(root, canaries)
            assert main.main(["grade", "--course", str(root)]) in (0, 1)

    return build_course_once("corpus", build)


@pytest.fixture
def graded(corpus: Path, fresh_copy: Callable[[Path], Path]) -> Path:
    return fresh_copy(corpus)


@pytest.mark.quick_cases(*QUICK)
@pytest.mark.parametrize("case", OF_THIS_WEEK, ids=lambda case: case.name)
def test_each_form_has_the_verdicts_of_grade(graded: Path, case: Submission) -> None:
    stored = {g.verdict.exercise: g.verdict for g in Course(graded).verdicts(case.lesson) if g.student == case.name}
    assert stored.keys() == load_lesson(ROOT / "grader_tests" / case.lesson).exercises.keys()
    points, most = Course(graded).scores()[case.name, case.lesson]
    wanted = Grade(points, most, rows_of(stored))
    file = graded / "submitted" / case.name / case.lesson / f"{case.lesson}.ipynb"
    result = grade_file(Course(graded), file, case.lesson)
    for form, check in CHECKS.items():
        check(FORMS[form].write(result), wanted)


def test_every_form_is_checked() -> None:
    assert list(CHECKS) == list(FORMS)


def rows_of(verdicts: dict[str, ExerciseVerdict]) -> Rows:
    """The rows of a grade as it is stored, in the words of the forms."""
    rows: Rows = {}
    for name, verdict in verdicts.items():
        if verdict.criteria and verdict.status in JUDGED:
            for criterion in verdict.criteria:
                state = "passed" if criterion.status == "right" else "failed"
                rows[f"{name}: {criterion.name}"] = (criterion.earned, criterion.points, state)
        else:
            rows[name] = (verdict.earned, verdict.points, STATES.get(verdict.status, "failed"))
    return rows


def check_plain(text: str, wanted: Grade) -> None:
    whole = json.loads(text)
    Draft202012Validator(json.loads((ROOT / "docs" / "result.schema.json").read_text())).validate(whole)
    rows: Rows = {}
    for exercise in whole["exercises"]:
        name, status = exercise["exercise"], exercise["status"]
        if status in JUDGED and exercise["criteria"]:
            for criterion in exercise["criteria"]:
                earned, most = map(float, criterion["points"].split(" of "))
                state = "passed" if criterion["status"] == "right" else "failed"
                rows[f"{name}: {criterion['name']}"] = (earned, most, state)
        else:
            rows[name] = (exercise["points"], exercise["most"], STATES.get(status, "failed"))
    assert Grade(whole["points"], whole["most"], rows) == wanted
    assert whole["needs_a_person"] == wanted.open
    assert sum(exercise["points"] for exercise in whole["exercises"]) == pytest.approx(wanted.points)


def check_gradescope(text: str, wanted: Grade) -> None:
    whole = json.loads(text)
    assert whole.keys() <= GRADESCOPE and all(test.keys() <= GRADESCOPE_TEST for test in whole["tests"])
    rows = {t["name"]: (t["score"], t["max_score"], t.get("status", "open")) for t in whole["tests"]}
    assert Grade(whole["score"], sum(test["max_score"] for test in whole["tests"]), rows) == wanted
    assert whole["extra_data"]["needs_a_person"] == wanted.open


def check_prairielearn(text: str, wanted: Grade) -> None:
    whole = json.loads(text)
    assert whole.keys() <= PRAIRIELEARN and all(test.keys() <= PRAIRIELEARN_TEST for test in whole.get("tests", ()))
    if not whole["gradable"]:
        assert whole["format_errors"] and wanted.points == 0 and wanted.all_open
        return
    rows = {}
    for test in whole["tests"]:
        state = "passed" if test["points"] == test["max_points"] else "failed"
        rows[test["name"]] = (test["points"], test["max_points"], "open" if test["description"] else state)
    most = sum(test["max_points"] for test in whole["tests"])
    assert Grade(round(whole["score"] * most, 6), most, rows) == wanted


def check_classroom50(text: str, wanted: Grade) -> None:
    whole = json.loads(text)
    assert whole.keys() >= CLASSROOM50 and all(test.keys() >= CLASSROOM50_TEST for test in whole["tests"])
    part, rows = wanted.most / whole["max-score"], {}  # scores are whole numbers: points times one number
    for test in whole["tests"]:
        state = "open" if test["needs-a-person"] else "passed" if test["passed"] else "failed"
        assert test["points"] == test["score"] * part
        rows[test["test-name"]] = (test["score"] * part, test["max-score"] * part, state)
    assert Grade(whole["score"] * part, whole["max-score"] * part, rows) == wanted


def check_junit(text: str, wanted: Grade) -> None:
    """Points are those of exercises here; a criterion passes, fails, or is skipped."""
    root = ET.fromstring(text)
    if errors := root.findall("testsuite/testcase/error"):
        assert len(errors) == 1 and wanted.points == 0 and wanted.all_open
        return
    states, points, most = dict[str, str](), dict[str, float](), dict[str, float]()
    for suite in root:
        name = suite.attrib["name"]
        properties = {each.attrib["name"]: float(each.attrib["value"]) for each in suite.iter("property")}
        points[name], most[name] = properties["points"], properties["most"]
        for case in suite.iter("testcase"):
            title = name if case.attrib["name"] == "the answer" else f"{name}: {case.attrib['name']}"
            marks = [{"failure": "failed", "skipped": "open"}[child.tag] for child in case]
            states[title] = marks[0] if marks else "passed"
    assert states == {title: state for title, (_, _, state) in wanted.rows.items()}
    for name in points:
        of_exercise = [row for title, row in wanted.rows.items() if title.partition(": ")[0] == name]
        assert (points[name], most[name]) == (sum(row[0] for row in of_exercise), sum(row[1] for row in of_exercise))
    assert (sum(points.values()), sum(most.values())) == (wanted.points, wanted.most)


CHECKS: dict[str, Callable[[str, Grade], None]] = {
    "json": check_plain,
    "gradescope": check_gradescope,
    "prairielearn": check_prairielearn,
    "classroom50": check_classroom50,
    "junit": check_junit,
}
