"""Examines one exercise: asks for an observation of every case, compares, diagnoses, and gives a verdict.

The judge computes references and the outcomes of known mistakes here, in the grader's own process, once per exercise
and seed. It never sees the learner's objects: `ask` is all that connects it with a kernel (or, in an instructor's
notebook, with a function in this process).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import torch

from course.protocol.comparing import Finding, Reference, compare, leaves, wrong_device
from course.protocol.diagnosing import explain
from course.protocol.errors import not_written
from course.protocol.program import Observation, Program
from course.protocol.running import observe

from .case import Case, in_words, program
from .exercise import Exercise, mix
from .source import Source
from .verdict import CriterionVerdict, ExerciseVerdict

# (program, its time limit in seconds) for every call -> what each gave, in their order, made as they are asked for
Ask = Callable[[list[tuple[Program, float]]], Iterator["Observation | NoAnswer"]]
MAX_UNANSWERED = 3


class NoAnswer(Exception):
    """A call brought no observation, and why, in words for the learner: out of time, out of memory, died."""


@dataclass(eq=False)
class Prepared:
    """A bound case with what the judge knows about it."""

    criterion: int
    case: Case
    seed: int
    cotangents: list[torch.Tensor] | None
    reference: Reference

    def program(self, exercise: Exercise, device: str = "cpu", stand_ins: dict[str, str] | None = None) -> Program:
        return program(
            self.case,
            cotangents=self.cotangents,
            forbidden=list(exercise.forbidden),
            stand_ins=stand_ins or {},
            device=device,
            seed=self.seed,
        )


@lru_cache(maxsize=256)
def prepare(exercise: Exercise, seed: int) -> list[Prepared]:
    """All cases of an exercise with their references, computed once in a process."""
    found = []
    for index, (criterion, cases) in enumerate(exercise.cases(seed)):
        for number, case in enumerate(cases):
            found.append(prepare_case(exercise, case, index, mix(seed, exercise.name, criterion.name, number)))
    return found


def prepare_case(exercise: Exercise, case: Case, criterion: int, seed: int) -> Prepared:
    names = {exercise.name: exercise.answer}
    cotangents = None
    if case.gradients:
        draw = torch.Generator().manual_seed(seed)
        plain = observe(program(case, dtype=case.exact_dtype, seed=seed), names)
        tensors = [v for value in plain.values.values() for _, v in leaves(value) if isinstance(v, torch.Tensor)]
        cotangents = [torch.randn(t.shape, generator=draw) for t in tensors if t.is_floating_point()]
    exact = observe(program(case, dtype=case.exact_dtype, cotangents=cotangents, seed=seed), names)
    native = observe(program(case, cotangents=cotangents, seed=seed), names)
    wrong = {name: case.inputs[name] for name in case.wrong}
    reference = Reference(_wide(exact), native, case.undefined, case.tolerance, wrong, case.pure, case.mutates)
    if (exact.raised is not None) != bool(case.wrong) and case.holds is None:
        raise RuntimeError(f"the oracle of {exercise.name} on {in_words(case)}: raised {exact.raised}")
    return Prepared(criterion, case, seed, cotangents, reference)


@lru_cache(maxsize=256)
def mistaken(exercise: Exercise, seed: int) -> dict[str, list[Observation]]:
    """What every known mistake gives on the same cases."""
    prepared = prepare(exercise, seed)
    return {
        m.name: [observe(p.program(exercise), {exercise.name: m.answer}) for p in prepared] for m in exercise.mistakes
    }


@lru_cache(maxsize=256)
def missed_by(exercise: Exercise, seed: int) -> dict[str, frozenset[int]]:
    """The cases, by number, that every known mistake gets wrong."""
    prepared = prepare(exercise, seed)
    return {
        name: frozenset(i for i, p in enumerate(prepared) if judge_case(p, given[i]))
        for name, given in mistaken(exercise, seed).items()
    }


def judge_case(prepared: Prepared, seen: Observation, device: str = "cpu") -> Finding | None:
    """What is wrong with one observation."""
    case, reference = prepared.case, prepared.reference
    if case.holds is None:
        return compare(seen, reference, device)
    if seen.raised is not None and reference.exact.raised is None:
        return compare(seen, reference, device)
    if elsewhere := wrong_device(seen, device):
        return elsewhere
    try:
        problem = case.holds(seen, reference.exact)
    except Exception:
        # A property reads the result as if it were of the right form; where that fails, the form was wrong
        problem = "the result is not of the form that the contract asks for"
    return Finding("values", problem) if problem else None


def examine(
    exercise: Exercise,
    ask: Ask,
    *,
    seed: int = 0,
    source: Source | None = None,
    device: str = "cpu",
    earlier: Iterable[tuple[Exercise, ExerciseVerdict]] = (),
) -> ExerciseVerdict:
    """The verdict on one exercise.

    source   the submitted notebook's code, for what is not allowed and for what the answer calls
    earlier  exercises of the same notebook judged before this one: where the answer calls one that was wrong,
             it is judged again with a right one in its place, and the better verdict stands
    """
    not_allowed = source.not_allowed(exercise.name, exercise.forbidden) if source else []
    verdict = _examine_once(exercise, ask, seed, device, {}, not_allowed)
    if verdict.earned < exercise.points and source and not not_allowed:
        called = source.reachable(exercise.name)
        wrong = [e for e, v in earlier if e.name in called and v.earned < e.points]
        if wrong:
            again = _examine_once(exercise, ask, seed, device, {e.name: e.stand_in for e in wrong}, [])
            if again.earned > verdict.earned:
                verdict = replace(again, followed_through=[e.name for e in wrong])
    return verdict


def _examine_once(
    exercise: Exercise, ask: Ask, seed: int, device: str, stand_ins: dict[str, str], not_allowed: list[str]
) -> ExerciseVerdict:
    prepared = prepare(exercise, seed)
    seen: list[Observation] = []
    findings: list[Finding | None] = []
    used: list[str] = list(not_allowed)
    unanswered = 0
    answers = ask([(p.program(exercise, device, stand_ins), p.case.seconds) for p in prepared])
    for p in prepared:
        if unanswered >= MAX_UNANSWERED:
            seen.append(Observation(raised=_nothing("not reached")))
            findings.append(Finding("not reached", "not run: too many calls before it brought no answer"))
            continue
        one = next(answers)
        if isinstance(one, NoAnswer):
            unanswered += 1
            seen.append(Observation(raised=_nothing(str(one))))
            findings.append(Finding("no answer", str(one)))
            continue
        used += [name for name in one.used if name not in used]
        seen.append(one)
        findings.append(judge_case(p, one, device))
    verdict = _verdict(exercise, prepared, seen, findings, seed)
    if used and verdict.status != "not started":
        for criterion in verdict.criteria:
            criterion.earned = 0.0
        verdict.earned, verdict.status, verdict.not_allowed = 0.0, "not allowed", used
        verdict.explanation = f"Not allowed in this exercise: {', '.join(used)}. Write it yourself."
    return verdict


def _verdict(
    exercise: Exercise, prepared: list[Prepared], seen: list[Observation], findings: list[Finding | None], seed: int
) -> ExerciseVerdict:
    criteria = []
    untouched = all(not_written(one.raised) for one in seen)

    def explained(failing: list[int]) -> str | None:
        if untouched:
            return None
        # Only a mistake that is wrong in all of these cases explains them, however near it comes to what was seen
        missed = missed_by(exercise, seed)
        outcomes = {name: o for name, o in mistaken(exercise, seed).items() if missed[name].issuperset(failing)}
        return explain(seen, failing, outcomes)

    for index, criterion in enumerate(exercise.criteria):
        mine = [i for i, p in enumerate(prepared) if p.criterion == index]
        failing = [i for i in mine if findings[i]]
        if not failing:
            criteria.append(CriterionVerdict(criterion.name, criterion.points, criterion.points, "right"))
            continue
        finding = findings[failing[0]]
        assert finding is not None
        status = "not reached" if all(getattr(findings[i], "rung", "") == "not reached" for i in failing) else "wrong"
        criteria.append(
            CriterionVerdict(
                criterion.name,
                criterion.points,
                0.0,
                status,
                in_words(prepared[failing[0]].case),
                finding.rung,
                finding.text,
                explained(failing) or "",
            )
        )
    earned = sum(c.earned for c in criteria)
    verdict = ExerciseVerdict(exercise.name, exercise.points, earned, "partly right", criteria, seed=seed)
    failing = [i for i, f in enumerate(findings) if f]
    if not failing:
        verdict.status = "right"
    elif untouched:
        verdict.status = "not started"
    elif earned == 0:
        verdict.status = "wrong"
    if failing and verdict.status != "not started":
        _diagnose(exercise, verdict, explained(failing))
    return verdict


def _diagnose(exercise: Exercise, verdict: ExerciseVerdict, whole: str | None) -> None:
    """Name the mistake that explains all that failed, else the one that explains most criteria on its own."""
    named = [c.mistake for c in verdict.criteria if c.mistake]
    name = whole or (max(named, key=named.count) if named else "")
    for mistake in exercise.mistakes:
        if mistake.name == name:
            verdict.mistake, verdict.explanation, verdict.see = name, mistake.text, mistake.see
    verdict.see = verdict.see or exercise.see


def _wide(seen: Observation) -> Observation:
    """Floating-point results in float64, whatever the oracle computed in."""

    def widen(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return value.double() if value.is_floating_point() else value
        if isinstance(value, (list, tuple)):
            return type(value)(map(widen, value))
        if isinstance(value, dict):
            return {key: widen(item) for key, item in value.items()}
        return value

    return replace(seen, values=widen(seen.values), gradients=widen(seen.gradients))


def _nothing(why: str) -> dict[str, object]:
    return {"type": "NoAnswer", "bases": ["NoAnswer"], "message": why, "line": ""}
