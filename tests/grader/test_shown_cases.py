"""What a page shows of a verdict: practice cases in full, and of hidden ones which criteria they cost."""

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
from grading.grader.shown_cases import HIDDEN, ONLY_HIDDEN, hide_cases, show_cases, show_unanswered, wants_practice
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


WRONG = [
    raising(IndexError),
    raising(torch.linalg.LinAlgError),
    raising(Telling),
    raising(NameError, f"name '{SECRET}' is not defined"),
    raising(TypeError, f"double() got an unexpected keyword argument {SECRET}"),
    raising(AttributeError, f"'double' object has no attribute '{SECRET}'"),
    raising(ValueError, f"the module has no parameter {SECRET}; it has {SECRET}"),
    lambda x: SECRET,
    lambda x: {SECRET: x},
    lambda x: type(SECRET, (), {})(),
    lambda x: torch.zeros(12, 34),
    lambda x: x * torch.nan,
    lambda x: 3 * x,
]


@pytest.mark.parametrize("answer", WRONG)
def test_of_a_hidden_case_nothing_is_shown(answer):
    practised, hidden = shown(answer).criteria
    assert (hidden.status, hidden.case, hidden.stage, hidden.finding) == ("wrong", "", "", HIDDEN)
    assert practised.case.startswith("double(torch.tensor([") and practised.finding != HIDDEN


def test_how_hidden_cases_fail_changes_no_word_of_the_verdict():
    """Else an answer that guesses at one case and raises at the next would learn whether the guess was right."""
    known = [p.case.inputs["x"] for p in practice_cases(doubling())]

    def at_hidden_cases(answer: Any) -> Any:
        return lambda x: 2 * x if any(torch.equal(x, one) for one in known if x.shape == one.shape) else answer(x)

    verdicts = [shown(at_hidden_cases(answer)).to_json() for answer in WRONG]
    assert all(verdict == verdicts[0] for verdict in verdicts)
    assert [criterion["finding"] for criterion in verdicts[0]["criteria"]] == [ONLY_HIDDEN, HIDDEN]


def test_yes_and_no_are_asked_in_an_order_that_each_submission_has_for_itself():
    made = exercise("positive", see="Sign")
    made.oracle(lambda x: bool(x > 0))

    @made.criterion("values", points=1)
    def _(draw):
        for place in range(8):
            yield call(draw.normal(1).abs() * (-1) ** place)

    def order(cells: list[str]) -> list[bool]:
        asked = list[bool]()
        names = {"positive": lambda x: asked.append(bool(x > 0)) or asked[-1]}
        assert grade_in_process(made, names, seed=SEED, cells=cells).status == "right"
        return asked

    orders = [order([f"# {number}\ndef positive(x): return bool(x > 0)"]) for number in range(9)]
    assert orders[0] == order(["# 0\ndef positive(x): return bool(x > 0)"])
    assert len({tuple(one) for one in orders}) > 5


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


def test_an_answer_that_takes_too_long_is_told_so_by_practice_cases_alone():
    unanswered = grade_exercise(doubling(), lambda programs: iter([NoAnswer("took too long")] * len(programs)))
    hide_cases(unanswered, [])
    assert {criterion.finding for criterion in unanswered.criteria} == {HIDDEN}
    assert wants_practice(unanswered)
    show_unanswered(unanswered, "took too long")
    assert to_report(unanswered).headline == "Took too long."


def test_the_smallest_practice_case_is_shown_with_its_expected_value():
    report = to_report(shown(lambda x: 3 * x))
    assert report.headline == "Every entry of the result is 1.5 times what it should be."
    assert report.example and report.example.expected and report.example.got
    assert report.example.call.startswith("double(torch.tensor([")


def test_the_case_that_is_shown_is_one_of_those_that_the_headline_explains():
    made = exercise("double", see="Doubling")
    made.oracle(lambda x: 2 * x)

    @made.criterion("values", points=1)
    def _(draw):
        for size in (1, 3, 4):
            yield call(draw.normal(size))

    names = {"double": lambda x: 3 * x if len(x) == 1 else x + torch.zeros(7)}
    verdict = grade_in_process(made, names, seed=SEED)
    hide_cases(verdict, [])
    cases = practice_cases(made)
    show_cases(verdict, made, cases, [observe(p.program(made.forbidden), names) for p in cases])
    report = to_report(verdict)
    assert report.headline == "`+` cannot combine the shapes (3,) and (7,)."
    assert report.example and "must match the size of tensor b (7)" in report.example.problem


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


def test_of_a_verdict_without_practice_cases_the_report_says_that_hidden_ones_fail():
    verdict = grade_in_process(doubling(), {"double": raising(IndexError)}, seed=SEED)
    hide_cases(verdict, [])
    report = to_report(verdict)
    assert (report.headline, report.example) == (HIDDEN, None)
    assert SECRET not in str(report.to_json())
