"""A course's secret is drawn once, kept, and never reaches a kernel or a student."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from grading.course_dir.seeds import FILE, course_seed, lesson_seed, seed_id, seed_of
from grading.errors import CourseError, NoAnswer
from grading.exercises.lesson import load_lesson
from grading.grader.codec import request
from grading.grader.follow_through import grade_and_follow
from grading.grader.grade_exercise import grade_exercise
from grading.grader.source_analysis import NotebookSource

from ..support.corpus import ROOT


def test_a_secret_is_drawn_once_and_only_its_owner_can_read_it(tmp_path: Path):
    with ThreadPoolExecutor(8) as pool:
        drawn = set(pool.map(course_seed, [tmp_path] * 8))
    assert len(drawn) == 1
    assert course_seed(tmp_path) == drawn.pop()
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_two_courses_draw_different_secrets(tmp_path: Path):
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    assert course_seed(tmp_path / "one") != course_seed(tmp_path / "other")


@pytest.mark.parametrize("held", ["", "7", "x" * 32])
def test_an_invalid_secret_gives_an_error_and_is_not_replaced(tmp_path: Path, held: str):
    (tmp_path / FILE).write_text(held)
    with pytest.raises(CourseError, match="has no seed"):
        course_seed(tmp_path)
    assert (tmp_path / FILE).read_text() == held


def test_an_exercises_seed_reveals_no_other_and_stays_the_same():
    lessons = [lesson_seed(secret, lesson) for secret in ("0", "1") for lesson in ("02_softmax", "03_queries")]
    seeds = [seed_of(lesson, name) for lesson in lessons for name in ("softmax", "entropy")]
    assert len(set(seeds)) == 8
    assert seed_of(lesson_seed("0", "02_softmax"), "softmax") == seeds[0] < 2**63
    assert seed_id("0") != seed_id("1")


def test_git_ignores_the_secret():
    assert f"{FILE}*" in (ROOT / ".gitignore").read_text().splitlines()


@pytest.mark.full
def test_a_request_to_a_kernel_has_neither_the_secret_nor_an_oracles_code():
    """In an earlier version, a submission printed an oracle, its inputs and the seed.

    Follow-through had sent the oracle of an exercise to the kernel.
    """
    lesson = load_lesson(ROOT / "grader_tests" / "02_softmax")
    softmax, log_softmax = lesson.exercises["softmax"], lesson.exercises["log_softmax"]
    asked = []

    def ask(programs):
        asked.append(request([program for program, _ in programs]))
        asked.extend(str(program.seed) for program, _ in programs)
        for program, _ in programs:
            asked.extend(program.stand_ins.values())
            yield NoAnswer("nothing")

    secret = "7e" * 16
    drawn = lesson_seed(secret, lesson.name)
    source = NotebookSource(["def softmax(x): return x\ndef log_softmax(x): return softmax(x).log()"], lesson.exercises)
    wrong = grade_exercise(softmax, ask, seed=seed_of(drawn, softmax.name))
    seed = seed_of(drawn, log_softmax.name)
    grade_and_follow(log_softmax, ask, source, [(softmax, wrong)], seed=seed)
    assert softmax.sealed in asked
    assert not any(secret in text or drawn in text or str(seed) in text or softmax.stand_in in text for text in asked)
