"""Of a wrong yes or no, or a wrong number, a report says what was answered, and of which function."""

from __future__ import annotations

import pytest

from grading.exercises.case import describe
from grading.exercises.lesson import load_lesson
from grading.grader.references import mistake_findings, prepare

from ..support.repository import ROOT


@pytest.mark.quick_cases("06_multi_head-count_parameters")
@pytest.mark.parametrize(
    ("lesson", "name"),
    [
        ("05_causal_mask", "sees_the_future"),
        ("07_rope", "is_order_blind"),
        ("06_multi_head", "count_parameters"),
    ],
)
def test_a_wrong_detector_reads_what_it_said_and_of_what(lesson, name):
    known = load_lesson(ROOT / "grader_tests" / lesson)
    exercise = (known.exercises | known.steps)[name]
    told = set()
    for findings in mistake_findings(exercise, 0).values():
        for prepared, finding in zip(prepare(exercise, 0), findings, strict=True):
            if finding:
                told.add(finding.text)
                assert "not right" not in finding.text
                assert len(describe(prepared.case).split()) > 3
    wanted = (
        ["too small", "too large"]
        if name == "count_parameters"
        else ["expected True, got False", "expected False, got True"]
    )
    assert all(any(text in one for one in told) for text in wanted)
