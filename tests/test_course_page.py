"""docs/course.md, the road through: every lesson has a row, with the minutes that it states at its own head."""

from __future__ import annotations

import re

import pytest

from .support.repository import LESSONS, ROOT

PAGE = (ROOT / "docs" / "course.md").read_text(encoding="utf-8")
ROWS: dict[str, str] = dict(re.findall(r"^\| (\d\d) [^|]+\| ([^|]+) \|", PAGE, re.M))


def minutes(lesson: str) -> str:
    found = re.search(r"\*\*Time:\*\* about (\d+) minutes", (ROOT / "source" / f"{lesson}.py").read_text("utf-8"))
    assert found, f"{lesson} does not say how long it takes"
    return found[1]


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_page_says_how_long_a_lesson_takes_as_the_lesson_does(lesson):
    assert ROWS.get(lesson[:2]) == minutes(lesson), "docs/course.md"


def test_a_row_without_a_lesson_says_so_and_every_contract_has_a_row():
    built = {lesson[:2] for lesson in LESSONS}
    assert {number for number, told in ROWS.items() if told == "not built yet"} == ROWS.keys() - built
    assert sorted(ROWS) == sorted(path.stem for path in (ROOT / "docs" / "contracts").glob("[0-9]*.md"))


def test_the_hours_of_the_core_are_those_of_its_lessons():
    core = sum(int(minutes(lesson)) for lesson in LESSONS if "01" <= lesson[:2] <= "08")
    words = {9: "nine", 10: "ten", 11: "eleven", 12: "twelve"}
    assert f"about {words[round(core / 60)]} hours" in " ".join(PAGE.split())
