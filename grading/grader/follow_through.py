"""Follow-through: one mistake costs once.

An answer that calls an earlier exercise which is wrong, unreadable or not started is judged again with a right one in
its place, and that verdict counts unless points are lost by it. Steps have no points, so a right answer would come for
nothing. Therefore only an attempt at a step is replaced: it is right in something, or a known mistake.

Does not cover: where it is judged again (`grading.judge.kernel.run`), how `check` does it (`course/notebook/check.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from course.harness.sentences import STEP_STAYS, listed

from ..exercises.exercise import Exercise
from .codec import Ask
from .grade_exercise import grade_exercise
from .source_analysis import NotebookSource
from .verdict import ExerciseVerdict

Judged = Iterable[tuple[Exercise, ExerciseVerdict]]


@dataclass
class Called:
    """The wrong answers that an answer calls.

    replaced  exercises and steps that a right answer replaces
    kept      steps that were not attempted
    """

    replaced: list[Exercise]
    kept: list[str]

    @property
    def any(self) -> bool:
        return bool(self.replaced or self.kept)


def grade_and_follow(
    exercise: Exercise, ask: Ask, source: NotebookSource, others: Judged, **settings: Any
) -> ExerciseVerdict:
    """Grade an exercise, and follow through at once: for names that nothing else is graded with afterwards."""
    verdict = grade_exercise(exercise, ask, source=source, **settings)
    called = find_wrong_calls(exercise, verdict, source, others)
    if called.replaced:
        again = grade_exercise(exercise, ask, source=source, in_place=called.replaced, **settings)
        verdict = verdict_that_counts(verdict, again, called)
    name_steps(verdict, called)
    return verdict


def find_wrong_calls(exercise: Exercise, verdict: ExerciseVerdict, source: NotebookSource, others: Judged) -> Called:
    """Find the wrong answers that an answer calls; none if it lost no points, or names a forbidden function.

    verdict  of the answer as it is
    others   steps, wherever they are, and exercises of the lesson, of which those after this one do not count
    """
    called = Called([], [])
    if verdict.earned >= exercise.points or verdict.grader_error:
        return called
    if source.not_allowed(exercise.name, exercise.forbidden):
        return called
    names, before = source.names_used(exercise.name), source.earlier_exercises(exercise.name)
    for other, of in others:
        if other.name not in names or of.status == "right":
            continue
        if other.is_step and not (of.mistake or any(criterion.status == "right" for criterion in of.criteria)):
            called.kept.append(other.name)
        elif other.is_step or other.name in before:
            called.replaced.append(other)
    return called


def verdict_that_counts(verdict: ExerciseVerdict, again: ExerciseVerdict, called: Called) -> ExerciseVerdict:
    """The verdict that counts: `again`, with right answers in place, unless it loses points or says the same."""
    if again.earned < verdict.earned or again == verdict:
        return verdict
    return replace(again, followed_through=[exercise.name for exercise in called.replaced])


def name_steps(verdict: ExerciseVerdict, called: Called) -> None:
    """Say which steps the answer needs and does not have."""
    if not called.kept:
        return
    told = f"It calls {listed(called.kept)}: write that first."
    if verdict.status == "not started":
        verdict.status, verdict.explanation, verdict.advice = "wrong", told, STEP_STAYS
    else:
        verdict.notes.append(f"{told} {STEP_STAYS}")
