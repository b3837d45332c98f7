from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grading.plugins.review.desk import ReviewDesk

from ...support.review_course import DOUBLE, ESSAY, EXPLORE, SKETCH, STUB, WHY, make_review_course, open_desk

GREW = "Because the **variance** grows."
ANSWERS = {
    "ada": {WHY: GREW, ESSAY: "The future.", SKETCH: "x = 1", EXPLORE: "I tried three sizes."},
    "ben": {WHY: "because the  variance grows", ESSAY: "Nothing.", SKETCH: "x  =  1"},
    "cy": {WHY: "- Because the `variance` grows!", ESSAY: "Later words.", SKETCH: "x = 1\n", DOUBLE: ""},
    "dan": {WHY: "It looks nicer.", ESSAY: STUB},
    "eve": {WHY: STUB},
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_review_course(tmp_path_factory.mktemp("review") / "course", ANSWERS)


@pytest.fixture
def course(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / "course")


@pytest.fixture
def open_another(course: Path) -> Iterator[Callable[[], ReviewDesk]]:
    """Opens desks, each with its own connection to the gradebook, like processes."""
    opened: list[ReviewDesk] = []

    def open_one() -> ReviewDesk:
        opened.append(open_desk(course))
        return opened[-1]

    yield open_one
    for one in opened:
        one.gradebook.close()


@pytest.fixture
def desk(open_another: Callable[[], ReviewDesk]) -> ReviewDesk:
    return open_another()
