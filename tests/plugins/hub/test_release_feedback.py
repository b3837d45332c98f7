"""Feedback through nbgrader's exchange, where some handed in by it and some in another way."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from grading.plugins.hub.release_feedback import MOST_NAMES, other_names

from ...support.course_builder import build_course

BIN = Path(sys.executable).parent
LESSON = "01_double"


def nbgrader(root: Path, *arguments: str) -> str:
    done = subprocess.run([BIN / "nbgrader", *arguments], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.mark.full("grades four submissions and runs two commands of nbgrader")
def test_who_did_not_hand_in_by_the_exchange_is_named_and_all_others_get_feedback(tmp_path, sandboxed):
    exchange = tmp_path / "exchange"
    exchange.mkdir(mode=0o777)
    exchange.chmod(0o777)
    root = build_course(
        tmp_path / "course",
        config=f"c.Exchange.root = {str(exchange)!r}",
        release=[LESSON],
        submissions={"ada": {}, "bo": {}, "cy": {}, "jane doe": {}},
        grade=True,
    )
    for student in ("ada", "bo", "cy"):
        for step in ("submitted", "autograded"):
            (root / step / student / LESSON / "submission_secret.txt").write_text(student)
            (root / step / student / LESSON / "timestamp.txt").write_text("2026-11-20 12:00:00 UTC")
    for step in ("submitted", "autograded"):
        (root / step / "bo" / LESSON / "timestamp.txt").unlink()
    nbgrader(root, "generate_feedback", LESSON, "--force")
    said = nbgrader(root, "release_feedback", LESSON)
    assert len(list(exchange.glob("*/feedback/*.html"))) == 2
    for student, file in {"bo": "timestamp.txt", "jane doe": "timestamp.txt"}.items():
        assert f"{student}: no feedback is released, because it was not handed in through the exchange" in said
        assert f"(there is no {file})" in said


def test_a_page_has_as_many_names_as_are_bounded_and_can_be_hashed(tmp_path):
    for number in range(2 * MOST_NAMES):
        (tmp_path / f"copy {number:02}.ipynb").touch()
    (tmp_path / "a\udcff.ipynb").touch()
    assert other_names(tmp_path, LESSON) == [f"copy {number:02}" for number in range(MOST_NAMES)]
