"""`check("experiment", finding)` looks at the finding, and never stops a notebook."""

from __future__ import annotations

import json
from typing import Any

import pytest
import torch

from course.notebook import catalog, experiment, session

from ...support.acting_lesson import LESSON
from ...support.learner import Learner

SENTENCES = {"confirmed": "Yes.", "other": "Look again."}
SIGN = {"kind": "sign", "answer": "+", "wrong": [{"answer": "-", "text": "You took the other one."}], **SENTENCES}
ORDER = {
    "kind": "order",
    "answer": ["a", "b", "c"],
    "wrong": [{"answer": ["c", "b", "a"], "text": "From large to small."}],
    **SENTENCES,
}


def test_the_cell_as_released_says_what_to_write(acting: Learner) -> None:
    told = acting.run('finding = ...\npoints = check("experiment", finding)')
    assert told == "○ experiment: not started (not graded). Put your finding in place of the dots: a number.\n"
    assert acting.names["points"] is None, "no 0.0 below the report"
    assert acting.run('points = check("experiment")') == told


@pytest.mark.parametrize("finding", [0.5, "0.5", "1/2", torch.tensor(0.4)])
def test_a_number_within_the_interval_confirms(acting: Learner, finding: Any) -> None:
    acting.names["finding"] = finding
    told = acting.run('points = check("experiment", finding)')
    assert told.startswith("☑ experiment: passes (not graded). You found ")
    assert told.endswith("Two equal scores share equally.\n")
    assert session.current().store.get(LESSON, "experiment").status == "passes"
    assert acting.run('points = check("experiment", 7)').startswith("✗ experiment")
    assert session.current().store.get(LESSON, "experiment").status == "passes", "what has passed stays passed"


def test_a_known_wrong_finding_is_explained_and_any_other_too(acting: Learner) -> None:
    assert acting.run('points = check("experiment", 1)').splitlines() == [
        "✗ experiment: not right yet (not graded)",
        "  You found 1.",
        "  That is the sum of both shares.",
    ]
    assert "Look at one score" in acting.run('points = check("experiment", 7)')
    assert "You found 0.6667.\n" in acting.run('points = check("experiment", 2 / 3)')
    assert acting.run("progress()").splitlines()[-1] == "  ◐ Without points: 0 of 2 pass"


def test_what_cannot_be_a_finding_is_answered_with_what_can(acting: Learner) -> None:
    told = acting.run('points = check("experiment", [1, 2])').splitlines()
    assert told[1] == "  Expected a number, got [1, 2]."
    assert session.current().store.get(LESSON, "experiment").status == "not started"


@pytest.mark.parametrize(
    ("known", "finding", "status", "said"),
    [
        (SIGN, "+", "passes", "Yes."),
        (SIGN, "positive", "passes", "Yes."),
        (SIGN, 0.3, "passes", "Yes."),
        (SIGN, torch.tensor(-2.0), "wrong", "You took the other one."),
        (SIGN, 0, "wrong", "Look again."),
        (SIGN, "up", "wrong", "Expected a sign"),
        (ORDER, ["a", "b", "c"], "passes", "You found a < b < c. Yes."),
        (ORDER, "A < B < C", "passes", "Yes."),
        (ORDER, ("c", "b", "a"), "wrong", "From large to small."),
        (ORDER, "b, a, c", "wrong", "Look again."),
        (ORDER, ["a", "b"], "wrong", 'Expected a list of the names "a", "b", "c" in their order'),
        (ORDER, 3, "wrong", "Expected a list of the names"),
    ],
)
def test_signs_and_orders(acting: Learner, tmp_path, monkeypatch, known, finding, status, said) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / f"{LESSON}{catalog.EXPERIMENTS}").write_text(json.dumps(known))
    shown = experiment.experiment_report(session.current(), finding)
    assert shown.status == status
    assert said in f"{shown.headline} {shown.advice}"


def test_a_lesson_without_one_and_a_damaged_file_stop_nothing(acting: Learner, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for damaged in ("{", "[]", '{"kind": "number"}'):
        (tmp_path / f"{LESSON}{catalog.EXPERIMENTS}").write_text(damaged)
        assert experiment.DAMAGED in acting.run('points = check("experiment", 0.5)')
    (tmp_path / f"{LESSON}{catalog.EXPERIMENTS}").write_text("{}")
    assert experiment.NONE_HERE in acting.run('points = check("experiment", 0.5)')
    assert "experiment" not in acting.run("progress()")
