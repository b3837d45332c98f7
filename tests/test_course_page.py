"""The minutes of the lessons: docs/course.md and README.md repeat those that each released lesson states."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

from course.outline import counts
from grading.proof.author_tables import filled_in, hours, minutes

from .support.repository import LESSONS, ROOT

NUMBERS = {15: "fifteen", 16: "sixteen"}
PAGE = (ROOT / "docs" / "course.md").read_text(encoding="utf-8")
TIME = re.compile(r"\*\*Time:\*\* about (\d+) minutes(?:, or (\d+) with the parts marked \*extra\*)?\n")


def stated(lesson: str) -> SimpleNamespace:
    """The minutes at the head of a released notebook."""
    path = ROOT / "release" / lesson / f"{lesson}.ipynb"
    first = "".join(json.loads(path.read_text(encoding="utf-8"))["cells"][0]["source"])
    found = TIME.search(f"{first}\n")
    assert found, f"{lesson} does not say how long it takes"
    return SimpleNamespace(core_minutes=int(found[1]), all_minutes=int(found[2] or found[1]))


EFFORTS = {lesson: stated(lesson) for lesson in LESSONS}


def test_the_pages_say_how_long_lessons_take_as_the_lessons_do():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert filled_in(PAGE, {"minutes": minutes(EFFORTS)}) == PAGE, "run `grading sync`"
    assert filled_in(readme, {"hours": hours(EFFORTS)}) == readme, "run `grading sync`"


def test_each_lesson_has_a_row_that_says_what_it_needs_and_a_contract():
    rows = sorted(re.findall(r"^\| (\d\d) [A-Z][^|]+\|", PAGE, re.M))
    assert rows == [lesson[:2] for lesson in LESSONS]
    assert rows == sorted(path.stem for path in (ROOT / "docs" / "contracts").glob("[0-9]*.md"))


def test_no_total_counts_a_warm_up():
    assert counts("14_tokens_and_choices")
    assert counts("homework")
    assert not counts("90_tensors")
    others = {name: effort for name, effort in EFFORTS.items() if counts(name)}
    assert hours(EFFORTS) == hours(others)
    assert f"There are {NUMBERS[len(others)]} lessons" in PAGE
    for page in ("README.md", "docs/site/index.md"):
        assert f"{NUMBERS[len(others)].capitalize()} " in (ROOT / page).read_text(encoding="utf-8")
