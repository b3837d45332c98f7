"""Every grader is proved: the solution and every alternative are right, every known mistake loses and is named.

Here a quarter of the exercises each week, with one of the seeds and a few of the mutants, and a third of them replayed
through `check`, drawn for each run of the tests; `grading prove` takes all.
"""

from __future__ import annotations

import random
from functools import cache

import nbformat
import pytest

from grading.coordinator.converters import autograde
from grading.coordinator.demo_class import correct_answers, hand_in, write_answers
from grading.course import Course
from grading.exercises.lesson import load_lesson
from grading.proof import SEEDS, Prover
from grading.proof.equivalents import read_equivalents
from grading.proof.verdict_records import compact, recorded

from ..support.repository import LESSONS, ROOT, of_this_week

EXERCISES = [(lesson, name) for lesson in LESSONS for name in load_lesson(ROOT / "grader_tests" / lesson).all_exercises]


@cache
def prover(lesson: str, seed: int) -> Prover:
    return Prover(ROOT, lesson, (seed,))


@pytest.mark.quick_cases("02_softmax-softmax")
@pytest.mark.parametrize(("lesson", "name"), of_this_week(EXERCISES, 4, always=[("02_softmax", "softmax")]))
def test_a_grader_is_proved_and_its_verdicts_are_the_recorded_ones(lesson, name):
    seed = random.choice(SEEDS)
    found = prover(lesson, seed)
    proof = found.prove(found.lesson.all_exercises[name], mutate=False, replay=random.random() < 1 / 3)
    assert not proof.problems, str(proof)
    assert proof.named == len(proof.exercise.mistakes)
    assert compact(proof) == recorded(ROOT, lesson, seed)[name]


@pytest.mark.full
@pytest.mark.parametrize(("lesson", "name"), of_this_week(EXERCISES, 4))
def test_a_mutant_loses_something_or_is_listed_as_equivalent(lesson, name):
    found = prover(lesson, random.choice(SEEDS))
    exercise = found.lesson.all_exercises[name]
    listed, made = read_equivalents(ROOT / "grader_tests" / lesson / name), found.mutants(exercise)
    few = [mutant for mutant in random.sample(made, 5) if str(mutant) not in listed]
    assert not [
        survivor
        for survivor in found.run_mutants(exercise, few).survivors
        if not found.why_equivalent(exercise, survivor)
    ]


@pytest.mark.quick_cases("02_softmax-softmax")
@pytest.mark.parametrize(("lesson", "name"), EXERCISES)
def test_every_equivalent_is_a_mutant_and_has_a_reason(lesson, name):
    found = prover(lesson, SEEDS[0])
    listed = read_equivalents(ROOT / "grader_tests" / lesson / name)
    gone = listed.keys() - set(map(str, found.mutants(found.lesson.all_exercises[name])))
    assert not gone, "`grading prove --survivors` writes the list anew"
    assert all(len(why.split()) >= 4 for why in listed.values())


@pytest.mark.full
@pytest.mark.parametrize("lesson", of_this_week(LESSONS, 2))
def test_right_answers_in_any_style_earn_all_points_in_the_sandbox(lesson, released_course):
    root = released_course(lesson)
    release = nbformat.read(root / "release" / lesson / f"{lesson}.ipynb", as_version=4)
    known = load_lesson(ROOT / "grader_tests" / lesson)
    for style in range(3):
        hand_in(root, lesson, f"style-{style}", write_answers(release, correct_answers(known, style)))
        autograde(Course(root), lesson, f"style-{style}")
        assert Course(root).scores()[f"style-{style}", lesson] == (20, 20)


def test_a_lesson_totals_twenty_points():
    for lesson in LESSONS:
        exercises = load_lesson(ROOT / "grader_tests" / lesson).exercises.values()
        assert sum(e.points for e in exercises) == 20, lesson
