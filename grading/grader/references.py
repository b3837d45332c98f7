"""References of an exercise's cases, and outcomes of its known mistakes.

They are computed in the grader's own process, once per exercise and seed.

Does not cover: grading a learner's answer (`grade_exercise`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import torch

from course.harness.check_case import check_case, coerced
from course.harness.compare import Reference, input_of, leaves
from course.harness.device_check import META
from course.harness.diagnose import MistakeOutcomes
from course.harness.messages import Finding
from course.harness.program import Observation, Program
from course.harness.runner import observe
from course.harness.serialization import pack

from ..exercises.answer_text import Answer
from ..exercises.case import Case, describe, to_program
from ..exercises.exercise import Exercise, mix

PRACTICE_SEED = 1 << 56  # one more than any that is made of a course's secret (`seeds.seed_of`)


@dataclass(eq=False)
class PreparedCase:
    """A bound case with what the grader knows about it.

    criterion  index of its criterion
    unchanged  index of the criterion that is lost when a call changes an argument in place
    names      whether it shows which known mistake an answer makes
    """

    criterion: int
    unchanged: int
    case: Case
    seed: int
    cotangents: list[torch.Tensor] | None
    reference: Reference
    names: bool = True

    def costs(self, finding: Finding | None) -> int:
        """Index of the criterion that this finding costs."""
        return self.unchanged if finding and finding.stage == "unchanged" else self.criterion

    def program(
        self, forbidden: Iterable[str], device: str = "cpu", stand_ins: dict[str, str] | None = None
    ) -> Program:
        return to_program(
            self.case,
            cotangents=self.cotangents,
            forbidden=list(forbidden),
            stand_ins=stand_ins or {},
            device=META if self.case.options.device_only else device,
            seed=self.seed,
        )


@lru_cache(maxsize=256)
def prepare(exercise: Exercise, seed: int) -> list[PreparedCase]:
    """All cases of an exercise with their references, cached in this process."""
    found, unchanged = [], None
    for index, (criterion, cases) in enumerate(exercise.cases(seed)):
        unchanged = index if any(case.check_unchanged for case in cases) else unchanged
        for number, case in enumerate(cases):
            made = prepare_case(exercise, case, index, mix(seed, exercise.name, criterion.name, number))
            found.append(replace(made, names=criterion.names_mistakes))
    return found if unchanged is None else [replace(p, unchanged=unchanged) for p in found]


def practice_cases(exercise: Exercise) -> list[PreparedCase]:
    """Cases of the criteria that everybody may see, without those that are kept for the grade alone."""
    return [p for p in prepare(exercise, PRACTICE_SEED) if not p.case.graded_only_reason]


@lru_cache(maxsize=256)
def draws_other_numbers(exercise: Exercise) -> tuple[bool, ...]:
    """For each of the practice cases, whether the grade draws other numbers for it."""
    others = {_numbers(case) for _, cases in exercise.cases(PRACTICE_SEED + 1) for case in cases}
    return tuple(_numbers(p.case) not in others for p in practice_cases(exercise))


def _numbers(case: Case) -> bytes:
    return pack([case.inputs, [[target, args, kwargs] for _, target, args, kwargs in case.steps]])


@lru_cache(maxsize=256)
def programs(exercise: Exercise, seed: int, device: str = "cpu", watched: bool = True) -> tuple[Program, ...]:
    """The programs for an answer, case by case, cached so that they are packed once.

    watched: whether forbidden calls are tracked
    """
    return tuple(p.program(exercise.forbidden if watched else (), device) for p in prepare(exercise, seed))


def prepare_case(exercise: Exercise, case: Case, criterion: int, seed: int) -> PreparedCase:
    names = {exercise.name: exercise.answer}
    cotangents = None
    if case.gradients:
        draw = torch.Generator().manual_seed(seed)
        plain = observe(to_program(case, dtype=case.exact_dtype, seed=seed), names)
        tensors = [v for value in plain.values.values() for _, v in leaves(value) if isinstance(v, torch.Tensor)]
        cotangents = [torch.randn(t.shape, generator=draw) for t in tensors if t.is_floating_point()]
    exact = observe(to_program(case, dtype=case.exact_dtype, cotangents=cotangents, seed=seed), names)
    native = observe(to_program(case, cotangents=cotangents, seed=seed), names)
    options = replace(case.options, may_mutate=case.options.may_mutate.union(map(input_of, native.changed)))
    wrong = {name: case.inputs[name] for name in options.raises}
    reference = Reference(_to_float64(exact), native, options, wrong, _magnitude(case), exercise.result_names)
    if (exact.raised is not None) != bool(options.raises) and options.check_with is None:
        raise RuntimeError(f"the oracle of {exercise.name} on {describe(case)}: raised {exact.raised}")
    return PreparedCase(criterion, criterion, case, seed, cotangents, reference)


@lru_cache(maxsize=256)
def mistake_outcomes(exercise: Exercise, seed: int) -> dict[str, list[Observation]]:
    """Outcomes of every known mistake on the same cases, by name.

    A family has one entry per value (`Mistake.all_forms`). Forbidden calls are not tracked here. Each seed starts
    with fresh answer objects.
    """
    named, others = _outcomes(exercise, seed, True), _outcomes(exercise, seed, False)
    both = {name: (iter(named[name]), iter(others[name])) for name in named}
    return {
        name: [next(one if p.names else other) for p in prepare(exercise, seed)] for name, (one, other) in both.items()
    }


@lru_cache(maxsize=256)
def _outcomes(exercise: Exercise, seed: int, names: bool) -> dict[str, list[Observation]]:
    """`mistake_outcomes` of the cases by which mistakes are named, or of the others, which take longer."""
    programs = [p.program(()) for p in prepare(exercise, seed) if p.names is names]
    answers = [answer for mistake in exercise.mistakes for answer in mistake.all_forms]
    return {a.name: outcomes_of(a, programs) for a in answers}


def outcomes_of(answer: Answer, programs: list[Program]) -> list[Observation]:
    """Run programs on one answer, one after the other, as in a notebook."""
    names = {answer.exercise_name: answer.load()}
    return [observe(each, names) for each in programs]


@lru_cache(maxsize=256)
def mistake_findings(exercise: Exercise, seed: int) -> dict[str, list[Finding | None]]:
    """Findings on every known mistake, case by case."""
    prepared = prepare(exercise, seed)
    return {name: list(map(judge_case, prepared, given)) for name, given in mistake_outcomes(exercise, seed).items()}


@lru_cache(maxsize=256)
def known_mistakes(exercise: Exercise, seed: int) -> list[MistakeOutcomes]:
    """Everything known about the mistakes, for `diagnose`, in the cases by which they are named."""
    given, prepared = _outcomes(exercise, seed, True), [p for p in prepare(exercise, seed) if p.names]
    return [
        MistakeOutcomes(
            mistake.name,
            [coerced(seen, p.reference) for p, seen in zip(prepared, given[answer.name], strict=True)],
            frozenset(i for i, p in enumerate(prepared) if judge_case(p, given[answer.name][i])),
            mistake.when,
        )
        for mistake in exercise.mistakes
        for answer in mistake.all_forms
    ]


def judge_case(prepared: PreparedCase, seen: Observation, device: str = "cpu") -> Finding | None:
    """Check one observation (see `course.harness.check_case.check_case`)."""
    return check_case(seen, prepared.reference, device)


def _magnitude(case: Case) -> float:
    """The largest finite magnitude in the case's floating-point inputs, or 0."""
    given = [value for _, value in leaves([case.inputs, [[args, kwargs] for *_, args, kwargs in case.steps]])]
    numbers = [v.detach().abs() for v in given if isinstance(v, torch.Tensor) and v.is_floating_point() and v.numel()]
    return max((float(n[n.isfinite()].max()) for n in numbers if n.isfinite().any()), default=0.0)


def _to_float64(seen: Observation) -> Observation:
    """Convert floating-point results to float64."""

    def widen(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return value.double() if value.is_floating_point() else value
        if isinstance(value, (list, tuple)):
            return type(value)(map(widen, value))
        if isinstance(value, dict):
            return {key: widen(item) for key, item in value.items()}
        return value

    return replace(seen, values=widen(seen.values), gradients=widen(seen.gradients))
