"""What coming late costs by each rule, and more time for one: in the gradebook, and in the words of the feedback."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde, GenerateFeedback
from nbgrader.coursedir import CourseDirectory

from grading.gradebook.accommodations import Accommodation, accommodations, grant
from grading.gradebook.late_rules import in_words
from grading.nbgrader_plugins.late_policy import LatePolicy

from ..support.html_pages import Elements
from ..support.nbgrader_runner import course_config
from ..support.two_exercise_course import DOUBLE, HALVE, LESSON, submit_file, with_answers

HOUR, DAY = 3600, 86400
DUE = datetime(2026, 11, 20, 23, 59)  # noqa: DTZ001  # as nbgrader keeps its times


@pytest.mark.parametrize(
    ("policy", "seconds", "left"),
    [
        ("zero", 1, 0),
        ("half", 9 * DAY, 5),
        ("10% a day", 1, 9),
        ("10% a day", DAY, 9),
        ("10% a day", DAY + 1, 8),
        ("10% a day", 30 * DAY, 0),
        ("20% a day", 2 * DAY, 6),
        ("2% an hour", 5 * HOUR, 9),
        ("none", DAY, 10),
    ],
)
def test_each_rule_takes_off_what_its_name_says(policy: str, seconds: float, left: float) -> None:
    assert 10 - (LatePolicy(policy=policy).late_submission_penalty("ada", 10, seconds) or 0) == pytest.approx(left)


def test_grace_costs_nothing_and_does_not_count_and_there_is_a_most() -> None:
    rule = LatePolicy(policy="10% a day", grace_minutes=30, most=0.3)
    assert rule.late_submission_penalty("ada", 10, 30 * 60) is None
    assert rule.late_submission_penalty("ada", 10, 30 * 60 + DAY) == 1
    assert rule.late_submission_penalty("ada", 10, 30 * DAY) == 3
    assert rule.in_words() == "10% of the points are deducted for each day begun after 30 minutes of grace, 30% at most"


def test_nbgraders_own_setting_still_holds() -> None:
    assert LatePolicy(penalty_method="zero").late_submission_penalty("ada", 10, 1) == 10


def test_times_are_shown_in_their_two_largest_units() -> None:
    assert in_words(timedelta(days=2, hours=1, minutes=5)) == "2 days 1 hour"
    assert in_words(timedelta(seconds=1)) == "1 minute"


@pytest.fixture
def graded_late(course: Any) -> Callable[..., str]:
    """graded_late(rule, leave): ada's work, which is right and came 25 hours late, is graded: the text of her page."""
    submit_file(course.root, "ada", with_answers(course.release, double=DOUBLE, halve=HALVE))
    submit_file(course.root, "ada", b"2026-11-22 00:59:00 UTC", name="timestamp.txt")
    with Gradebook(f"sqlite:///{course.root}/gradebook.db", "attention") as gradebook:
        gradebook.update_or_create_assignment(LESSON, duedate=DUE)

    def run(policy: str, more: timedelta | None = None) -> str:
        with Gradebook(f"sqlite:///{course.root}/gradebook.db", "attention") as gradebook:
            grant(gradebook, Accommodation(LESSON, "ada", more))
        config = course_config(course.root)
        config.LatePolicy.policy = policy
        for step in (Autograde, GenerateFeedback):
            made = step(coursedir=CourseDirectory(config=config), config=config)
            made.force = True
            made.start()
        page = Path(course.root / "feedback" / "ada" / LESSON / f"{LESSON}.html").read_text()
        return " ".join(Elements(page).text.split())

    return run


@pytest.mark.full
def test_the_feedback_says_what_was_taken_off_and_why(graded_late: Any) -> None:
    text = graded_late("10% a day")
    rule = "10% of the points are deducted for each day begun"
    why = f"It was handed in 1 day 1 hour after the due date (2026-11-20 23:59 UTC): {rule}."
    assert f"Late submission: −1.6 points. {why}" in text
    assert "Late submission −1.6 Total 6.4 of 8" in text


def test_the_feedback_says_how_late_it_came_also_where_that_costs_nothing(graded_late: Any) -> None:
    text = graded_late("none")
    assert "It was handed in 1 day 1 hour after the due date (2026-11-20 23:59 UTC). That cost no points." in text
    assert "deducted" not in text
    assert "after the due date" not in graded_late("none", timedelta(days=2))


@pytest.mark.full
def test_an_extension_given_before_handing_in_counts_and_can_be_taken_back(graded_late: Any, course: Any) -> None:
    text = graded_late("10% a day", timedelta(days=1))
    assert "Late submission: −0.8 points." in text
    assert "(2026-11-20 23:59 UTC, with an extension of 1 day)" in text
    assert "deducted" not in graded_late("10% a day", timedelta(days=2))
    assert "Late submission: −1.6 points." in graded_late("10% a day")
    with Gradebook(f"sqlite:///{course.root}/gradebook.db", "attention") as gradebook:
        assert list(accommodations(gradebook)) == []
