"""Days are those of the calendar in the course's time zone, also where the clocks change."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from traitlets.config import Config

from grading.course_dir.course_time import after, by_the_clock, days_begun, parse_local, shown, zone_of

BERLIN, AUCKLAND, KOLKATA = ZoneInfo("Europe/Berlin"), ZoneInfo("Pacific/Auckland"), ZoneInfo("Asia/Kolkata")
DAY = timedelta(days=1)


def test_asking_for_the_zone_changes_no_policy() -> None:
    """The policy is an input of every grade: one that changed would have each made again."""
    config = Config()
    assert zone_of(config).key == "UTC" and config == Config()
    assert zone_of(Config({"LatePolicy": {"timezone": "Asia/Kolkata"}})) == KOLKATA


def at(text: str, zone: ZoneInfo = BERLIN) -> datetime:
    return parse_local(text, zone)


@pytest.mark.parametrize(
    ("zone", "due", "came", "days"),
    [
        (BERLIN, "2026-10-24 23:59", "2026-10-25 23:59", 1),  # 25 hours
        (BERLIN, "2026-10-24 23:59", "2026-10-25 23:59:01", 2),
        (BERLIN, "2026-03-28 23:59", "2026-03-29 23:59", 1),  # 23 hours
        (BERLIN, "2026-03-28 23:59", "2026-03-29 23:59:01", 2),
        (BERLIN, "2026-10-01 12:00", "2026-11-01 12:00", 31),
        (BERLIN, "2026-10-01 12:00", "2026-11-01 12:00:01", 32),
        (BERLIN, "2026-11-20 23:59", "2026-11-20 23:59:01", 1),
        (AUCKLAND, "2026-04-04 23:59", "2026-04-05 23:30", 1),
        (AUCKLAND, "2026-09-26 23:59", "2026-09-27 23:59:01", 2),
        (KOLKATA, "2026-10-24 23:59", "2026-10-25 23:59", 1),
        (BERLIN, "2026-10-24 23:59", "9999-12-31 23:59:59", 2912147),
        (AUCKLAND, "2026-10-25 02:30", "2026-10-25 02:30:01", 1),
    ],
)
def test_days_begun_are_counted_on_the_calendar(zone, due, came, days):
    assert days_begun(at(due, zone), at(came, zone), zone) == days


def test_later_is_never_fewer_days_where_clocks_show_an_hour_twice():
    due = at("2026-10-24 02:30")
    times = [at("2026-10-25 00:30") + timedelta(minutes=minutes) for minutes in range(0, 240, 10)]
    days = [days_begun(due, time, BERLIN) for time in times]
    assert days == sorted(days) and set(days) == {1, 2}


@pytest.mark.parametrize(
    ("begin", "end"),
    [
        ("2026-10-24 23:59", "2026-10-25 23:59 CET"),
        ("2026-03-28 23:59", "2026-03-29 23:59 CEST"),
        ("2026-03-28 02:30", "2026-03-29 03:30 CEST"),  # there is no 02:30 on that day
        ("2026-10-24 02:30", "2026-10-25 02:30 CET"),  # the later of two
    ],
)
def test_a_day_later_the_clocks_show_the_same(begin, end):
    assert shown(after(at(begin), DAY, BERLIN), BERLIN) == end
    assert after(at(begin), timedelta(), BERLIN) == at(begin)


def test_a_time_is_read_as_it_is_shown():
    for text in ("2026-10-25 23:30 CET", "2026-07-01 08:00:05 CEST"):
        assert shown(at(text), BERLIN) == text
    assert at("2026-10-25 23:30 UTC") == at("2026-10-25T23:30+00:00") == at("2026-10-26 00:30")
    assert shown(datetime(9999, 12, 31, 23), AUCKLAND) == "9999-12-31 23:00 UTC"  # noqa: DTZ001  # as in the gradebook
    assert by_the_clock(at("2026-10-24 23:59"), at("2026-10-25 23:30"), BERLIN) == timedelta(hours=23, minutes=31)
    for text in ("", "soon", "2026-10-25 23:30 PST", "25.10.2026"):
        with pytest.raises(ValueError, match=r"."):
            at(text)
