"""What a page shows of a verdict: practice cases in full, and of hidden ones closed words alone."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from course.harness.runner import observe
from grading.errors import NoAnswer
from grading.exercises.exercise import Exercise, call, exercise
from grading.grader.grade_exercise import grade_exercise
from grading.grader.local import grade_in_process
from grading.grader.references import practice_cases
from grading.grader.shown_cases import hide_cases, show_cases, wants_practice
from grading.grader.verdict import TABLE, ExerciseVerdict
from grading.grader.verdict_report import to_report

SEED = 5
SECRET = "what_it_has_seen"


def doubling() -> Exercise:
    made = exercise("double", see="Doubling", forbidden=("relu",))

    @made.oracle
    def double(x):
        return 2 * x

    @made.criterion("values", points=1)
    def _(draw):
        yield call(draw.normal(3))

    @made.criterion("for the grade alone", points=1, graded_only="to see what is shown then")
    def _(draw):
        yield call(draw.normal(4, 2))

    return made


def shown(answer: Any) -> ExerciseVerdict:
    """The verdict on an answer, as a page shows it."""
    names, made = {"double": answer}, doubling()
    verdict = grade_in_process(made, names, seed=SEED)
    hide_cases(verdict, [])
    assert SECRET not in str(verdict.to_json())
    if wants_practice(verdict):
        cases = practice_cases(made)
        show_cases(verdict, made, cases, [observe(p.program(made.forbidden), names) for p in cases])
    return verdict


def raising(kind: type[BaseException], message: str = SECRET) -> Any:
    def answer(x):
        raise kind(message)

    return answer


class Telling(ValueError):
    """An exception whose name says more than it should."""


Telling.__name__ = SECRET


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (raising(IndexError), "In a hidden case, the call raised IndexError."),
        (raising(torch.linalg.LinAlgError), "In a hidden case, the call raised _LinAlgError."),
        (raising(Telling), "In a hidden case, the call raised an exception of its own."),
        (raising(NameError, f"name '{SECRET}' is not defined"), "In a hidden case, the call raised NameError."),
        (
            raising(TypeError, f"double() got an unexpected keyword argument {SECRET}"),
            "In a hidden case, the call raised TypeError.",
        ),
        (
            raising(AttributeError, f"'double' object has no attribute '{SECRET}'"),
            "In a hidden case, the call raised AttributeError.",
        ),
        (
            raising(ValueError, f"the module has no parameter {SECRET}; it has {SECRET}"),
            "In a hidden case, the call raised ValueError.",
        ),
        (lambda x: SECRET, "In a hidden case, the result has the wrong type."),
        (lambda x: {SECRET: x}, "In a hidden case, the result has the wrong type."),
        (lambda x: type(SECRET, (), {})(), "In a hidden case, the result has the wrong type."),
        (lambda x: torch.zeros(12, 34), "In a hidden case, the result has the wrong shape."),
        (lambda x: x * torch.nan, "In a hidden case, the result has NaN or infinite values."),
        (lambda x: 3 * x, "In a hidden case, the result has wrong values."),
    ],
)
def test_of_a_hidden_case_only_closed_words_are_shown(answer, words):
    practised, hidden = shown(answer).criteria
    assert (hidden.case, hidden.finding) == ("", words)
    assert practised.case.startswith("double(torch.tensor([") and "hidden" not in practised.finding


def test_a_forbidden_name_is_shown_from_a_practice_case_only():
    assert shown(torch.relu).not_allowed == ["torch.relu"]
    verdict = grade_in_process(doubling(), {"double": torch.relu}, seed=SEED)
    hide_cases(verdict, [])
    assert verdict.not_allowed == [] and "relu" not in str(verdict.to_json())


def test_an_answer_that_fails_hidden_cases_alone_looks_like_a_table():
    known = [p.case.inputs["x"] for p in practice_cases(doubling())]

    def table(x):
        return 2 * x if any(torch.equal(x, one) for one in known if x.shape == one.shape) else 0 * x

    assert shown(table).signs == [TABLE]
    assert shown(lambda x: 0 * x).signs == []


def test_no_practice_is_asked_of_an_answer_that_needs_none():
    assert not wants_practice(grade_in_process(doubling(), {"double": lambda x: 2 * x}, seed=SEED))
    unanswered = grade_exercise(doubling(), lambda programs: iter([NoAnswer("took too long")] * len(programs)))
    assert unanswered.status == "wrong" and not wants_practice(unanswered)


def test_the_smallest_practice_case_is_shown_with_its_expected_value():
    report = to_report(shown(lambda x: 3 * x))
    assert report.headline == "The result has wrong values."
    assert report.example and report.example.expected and report.example.got
    assert report.example.call.startswith("double(torch.tensor([")


def test_a_case_that_the_grade_asks_unchanged_shows_where_it_differs_and_no_expected_value():
    """Its result could be written down instead of computed."""
    made = exercise("double", see="Doubling")
    made.oracle(lambda x: 2 * x)

    @made.criterion("values", points=1)
    def _(draw):
        yield call(torch.tensor([1.0, 2.0]))

    verdict = grade_in_process(made, names := {"double": lambda x: 3 * x}, seed=SEED)
    hide_cases(verdict, [])
    cases = practice_cases(made)
    show_cases(verdict, made, cases, [observe(p.program(()), names) for p in cases])
    assert verdict.example["call"] == "double((2,))"
    assert (verdict.example["expected"], verdict.example["got"]) == ("", "")
    assert "2 of 2 entries wrong" in verdict.example["problem"]


def test_of_a_verdict_without_practice_cases_the_report_names_the_stage_alone():
    verdict = grade_in_process(doubling(), {"double": raising(IndexError)}, seed=SEED)
    hide_cases(verdict, [])
    report = to_report(verdict)
    assert (report.headline, report.example) == ("In a hidden case, the call raised IndexError.", None)
    assert SECRET not in str(report.to_json())
