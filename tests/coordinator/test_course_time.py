"""Late penalties, extensions and limits follow the course's calendar, and people read times in its zone."""

from __future__ import annotations

import csv
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from rich.console import Console

from grading.cli import main
from grading.coordinator.converters import generate_feedback
from grading.coordinator.grade_class import grade_class
from grading.course import Course
from grading.plugins.hub.attempts import FILE, AttemptLimits
from grading.plugins.hub.exchange import ExchangeSubmission
from grading.plugins.hub.watch_page import TEMPLATES, in_zone, public
from grading.plugins.hub.watch_state import WatchState
from grading.plugins.lms.collection import SKIPPED, Outcome
from grading.plugins.lms.outcome_table import show
from grading.safe_html import page_templates

from ..support.class_helpers import RecordingConsole
from ..support.course_builder import TINY_LESSONS

ONE = TINY_LESSONS[0]


def course_toml(root: Path, zone: str, due: str, more: str = "") -> None:
    lesson = f'[[lesson]]\nname = "{ONE}"\ndue = {due}\n'
    (root / "course.toml").write_text(f'timezone = "{zone}"\n{more}\n[late]\npolicy = "10% a day"\n{lesson}')


def hand_in_at(root: Path, **times: str) -> None:
    """student -> when the submission came, in UTC."""
    for student, time in times.items():
        (root / "submitted" / student / ONE / "timestamp.txt").write_text(f"{time} UTC")


def grade(root: Path) -> dict[str, float]:
    assert not grade_class(Course(root), [ONE], Console(quiet=True)).failed
    return {student: points for (student, _), (points, _) in Course(root).scores().items()}


@pytest.mark.parametrize(
    ("zone", "due", "ada", "cem", "points"),
    [  # ada came right and has 5 points without a penalty, cem 3
        ("Europe/Berlin", "2026-10-24 23:59:00", "2026-10-25 22:30:00", "2026-10-25 23:00:00", (4.5, 2.4)),
        ("Europe/Berlin", "2026-03-28 23:59:00", "2026-03-29 21:59:30", "2026-03-29 21:58:00", (4, 2.7)),
        ("Pacific/Auckland", "2026-04-04 23:59:00", "2026-04-05 11:30:00", "2026-04-05 12:00:00", (4.5, 2.4)),
    ],
    ids=["25 hours", "23 hours", "ahead of UTC"],
)
def test_a_day_late_is_a_day_of_the_calendar(course_of_three, capsys, zone, due, ada, cem, points):
    course_toml(course_of_three, zone, due)
    hand_in_at(course_of_three, ada=ada, cem=cem)
    assert main.main(["regrade", ONE]) == 0
    told = capsys.readouterr().out  # as it will be written
    assert re.search(rf"ada +5 +{points[0]:g} ", told) and re.search(rf"cem +3 +{points[1]:g} ", told)
    found = grade(course_of_three)
    assert (found["ada"], found["cem"]) == pytest.approx(points)


def test_an_extension_by_days_ends_at_the_same_hour_also_after_the_due_date_moves(course_of_three, capsys):
    root = course_of_three
    course_toml(root, "Europe/Berlin", "2026-10-24 23:59:00")
    hand_in_at(root, ada="2026-10-25 22:59:00", cem="2026-10-25 22:59:01", bob="2026-10-25 22:59:00")
    assert grade(root)["ada"] == 4.5
    for student, more, told in (
        ("ada", ["--days", "1"], "1 day more, until 2026-10-25 23:59 CET"),
        ("bob", ["--hours", "24"], "23 hours more, until 2026-10-25 22:59 CET"),
        ("cem", ["--until", "2026-10-25 23:59"], "1 day more, until 2026-10-25 23:59 CET"),
    ):
        assert main.main(["extend", ONE, student, *more]) == 0
        assert f"{student}, {ONE}: {told}" in capsys.readouterr().out
    found = grade(root)
    assert (found["ada"], found["cem"]) == (5, 2.7)
    course_toml(root, "Europe/Berlin", "2026-11-24 23:59:00")
    hand_in_at(root, ada="2026-11-25 22:59:00", cem="2026-11-25 22:59:01")
    found = grade(root)
    assert (found["ada"], found["cem"]) == (5, 2.7)
    assert main.main(["extend", ONE, "ada", "--until", "2026-11-24 23:59 CET"]) != 0
    assert "must end after the due date, 2026-11-24 23:59 CET" in capsys.readouterr().err


def test_times_are_shown_in_the_courses_zone(course_of_three, capsys):
    root = course_of_three
    course_toml(root, "Europe/Berlin", "2026-10-24 23:59:00")
    hand_in_at(root, ada="2026-10-25 22:30:00")
    capsys.readouterr()
    assert main.main(["grade", ONE]) == 0
    assert main.main(["extend", ONE, "ada", "--none"]) == 0
    assert f"ada, {ONE}: due 2026-10-24 23:59 CEST, like everybody else" in capsys.readouterr().out
    generate_feedback(Course(root), ONE, "ada")
    page = (root / "feedback" / "ada" / ONE / f"{ONE}.html").read_text()
    assert "It was handed in 23 hours 31 minutes after the due date (2026-10-24 23:59 CEST)" in page
    assert main.main(["report", "--csv", "tables"]) == 0
    with open("tables/students.csv", encoding="utf-8-sig", newline="") as file:
        times = {row["student"]: row["handed_in"] for row in csv.DictReader(file)}
    assert times["ada"] == "2026-10-25 23:30:00+01:00"
    assert main.main(["history", ONE]) == 0
    assert re.search(r"\d\d:\d\d CES?T", capsys.readouterr().out)


def test_the_outcomes_of_a_collection_show_them_too():
    console, late = RecordingConsole(), "2026-10-25 22:30:00 UTC"
    outcomes = [Outcome(SKIPPED, "Jane", "jane", late, f"it is older than the submission in submitted/ (x, {late})")]
    show(outcomes, console, "students.csv", "which-counts.csv", "--keep", ZoneInfo("Europe/Berlin"))
    said = " ".join(console.text.split())
    assert said.count("2026-10-25 23:30 CET") == 2 and "UTC" not in said


def test_the_page_of_the_service_shows_them_too():
    state = WatchState(timezone="Asia/Kolkata", since="2026-10-25 20:00:00+00:00")
    template = page_templates(TEMPLATES).get_template("watch.html.j2")
    page = template.render(state=public(vars(state)), when=in_zone(state.timezone))
    assert "released since 2026-10-26 01:30:00 IST" in page and "UTC" not in page


@pytest.mark.parametrize(
    ("zone", "last", "until"),
    [
        ("Europe/Berlin", "2026-10-24T12:00+02:00", "2026-10-25T12:00+01:00"),
        ("Europe/Berlin", "2026-03-28T12:00+01:00", "2026-03-29T12:00+02:00"),
        ("Pacific/Auckland", "2026-04-04T12:00+13:00", "2026-04-05T12:00+12:00"),
    ],
)
def test_a_limit_per_day_ends_at_the_same_hour(course, zone, last, until):
    course_toml(course, zone, "2026-12-01 12:00:00", "[attempts]\nper_day = 1\n")
    end = datetime.fromisoformat(until)
    (course / FILE).write_text(f"ada,{ONE},one.html,{last}\n")
    waiting = ExchangeSubmission(ONE, "ada", Path("new"), datetime.now(UTC).replace(tzinfo=None), Path("new.html"))
    limits = AttemptLimits(Course(course), end - timedelta(minutes=1))
    assert limits.held_until(waiting) == end
    assert f"{end:%Y-%m-%d} 12:01 " in limits.notice(waiting, end)
    assert AttemptLimits(Course(course), end).held_until(waiting) is None
