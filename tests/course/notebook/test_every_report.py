"""Every report of `check` on a known answer says one thing first, in few lines, and says nothing twice.

The answers are all known mistakes, all right alternatives and the stubs. `python -m benchmarks.reports` prints how long
the reports are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from statistics import median

import pytest

from benchmarks.reports import Said, lines, reports
from course.harness.sentences import split_sentence
from course.report import ONE_LINE, Example, Report

from ...support.repository import LESSONS, of_this_week

MOST, MEDIAN = 12, 9  # lines; of all lessons together the median is 8
INTERNAL = re.compile(
    r"\b(oracle|stage|findings?|practice outcome|observations?|verdict|specimen|diagnosis|Node\(|contract)\b", re.I
)
WRONG_PLURAL = re.compile(
    r"(?<![\d.,(−])\b1 (cases|entries|items|examples|points|criteria|keys|calls|lines|numbers|rows|tensors|stars)\b"
)
DOUBLE_NEGATION = re.compile(r"\b(?:not|never|no)\b[^.;:,]*\b(?:neither|nothing|nobody|never|(?<!is )none)\b", re.I)
FAULTS = (INTERNAL, WRONG_PLURAL, DOUBLE_NEGATION)
WRONG_ORDER = re.compile(r"\bgot\b.*\bexpected\b")


@lru_cache(maxsize=1)
def said(lesson: str) -> tuple[Said, ...]:
    """All reports of a lesson."""
    return tuple(reports(lesson))


def examples(report: Report) -> Iterator[Example]:
    yield from [report.example] if report.example else []
    yield from (case for row in report.rows for case in row.cases)


def sentences(report: Report) -> list[str]:
    """The sentences that are seen at first, without marks that do not count."""
    found = []
    for text in (report.headline, report.advice, report.example.problem if report.example else "", *report.notes):
        while text:
            first, text = split_sentence(text)
            found.append(re.sub(r"^\(\d\) |^Possibly: |[.!?]$", "", first).strip().lower())
    return [sentence for sentence in found if sentence]


def reports_are_short(lesson):
    found = [one for one in said(lesson) if one.mistake]
    longest = max(found, key=lambda one: lines(one.report))
    assert lines(longest.report) <= MOST, str(longest)
    assert median(lines(one.report) for one in found) <= MEDIAN


def each_answer_gets_the_report_of_its_kind(lesson):
    for one in said(lesson):
        report = one.report
        if one.answer == "stub":
            assert (report.status, lines(report)) == ("not started", 1), str(one)
        elif one.answer.startswith("alternative "):
            assert (report.status, lines(report)) == ("passes", 1), str(one)
        elif report.status == "not allowed":
            assert report.to_text().count("\n") == 1, str(one)
        else:
            assert one.mistake is None or report.status in ("wrong", "partly right"), str(one)


def a_report_begins_with_one_sentence_and_then_shows_a_case(lesson):
    for one in said(lesson):
        report = one.report
        if report.status in (*ONE_LINE, "not allowed"):
            continue
        text = " ".join(report.to_text().split())
        headline = " ".join(report.headline.split())
        assert report.headline[-1] in ".!?", str(one)
        assert report.headline.startswith("(1) ") or not split_sentence(headline)[1], str(one)
        assert report.headline.count("`") % 2 == 0, str(one)
        assert report.example is not None, str(one)
        assert report.example.expected != report.example.got or not report.example.expected, str(one)
        parts = [
            f"{one.exercise.name}: {report.head}",
            headline,
            " ".join(report.example.call.split()),
            " ".join(report.advice.split()),
            f"Look at: {report.see}",
        ]
        places = [text.index(part) for part in parts if part]
        assert places == sorted(places), str(one)


def nothing_is_said_twice(lesson):
    for one in said(lesson):
        found = sentences(one.report)
        assert len(set(found)) == len(found), str(one)
        problem = one.report.example.problem.lower() if one.report.example else ""
        assert not problem or problem not in one.report.headline.lower(), str(one)


def a_mistake_is_named_by_its_first_sentence_and_loses_what_it_is_said_to_lose(lesson):
    for one in said(lesson):
        if one.mistake is None or one.report.headline != split_sentence(one.mistake.text)[0]:
            continue
        met = {row.name for row in one.report.rows if row.status == "right" and row.points}  # criteria
        assert not met & set(one.mistake.loses), str(one)


def no_sentence_has_an_internal_term_a_wrong_plural_or_two_negations(lesson):
    for one in said(lesson):
        prose = [*sentences(one.report), *one.report.details]
        prose += [case.problem for case in examples(one.report)]
        for text in prose:
            plain = re.sub(r"`[^`]*`", "`…`", text)
            assert not [fault for fault in FAULTS if fault.search(plain)], f"{text!r} in {one}"


def what_was_expected_comes_before_what_came(lesson):
    for one in said(lesson):
        for case in examples(one.report):
            ours = [line for line in case.lines() if "your code raised" not in line]  # PyTorch has its own order
            assert not any(map(WRONG_ORDER.search, ours)), str(one)
            assert bool(case.expected) == bool(case.got), str(one)


CHECKS = (
    reports_are_short,
    each_answer_gets_the_report_of_its_kind,
    a_report_begins_with_one_sentence_and_then_shows_a_case,
    nothing_is_said_twice,
    a_mistake_is_named_by_its_first_sentence_and_loses_what_it_is_said_to_lose,
    no_sentence_has_an_internal_term_a_wrong_plural_or_two_negations,
    what_was_expected_comes_before_what_came,
)


@pytest.mark.quick_cases("02_softmax")
@pytest.mark.parametrize("lesson", of_this_week(LESSONS, 2, always=["02_softmax"]))
def test_the_reports_of_a_lesson(lesson):
    """In one test, because the reports take most of the time."""
    for check in CHECKS:
        check(lesson)
