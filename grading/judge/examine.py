"""Examines one exercise: asks for an observation of every case, compares, diagnoses, and gives a verdict.

The judge never sees the learner's objects: `ask` is all that connects it with a kernel (or, in an instructor's
notebook, with a function in this process).

Does not cover: what is right (`references.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from course.protocol.comparing import Finding
from course.protocol.diagnosing import explain
from course.protocol.errors import not_written
from course.protocol.program import Observation

from .case import in_words
from .exercise import Exercise
from .references import Prepared, judge_case, missed_by, mistaken, prepare
from .source import Source
from .verdict import CriterionVerdict, ExerciseVerdict
from .wire import Ask, NoAnswer

MAX_UNANSWERED = 3


def examine(
    exercise: Exercise,
    ask: Ask,
    *,
    seed: int = 0,
    source: Source | None = None,
    device: str = "cpu",
    earlier: Iterable[tuple[Exercise, ExerciseVerdict]] = (),
    lenient: bool = False,
) -> ExerciseVerdict:
    """The verdict on one exercise.

    source   the submitted notebook's code, for what is not allowed and for what the answer calls
    earlier  exercises of the same notebook judged before this one: where the answer calls one that was wrong,
             it is judged again with a right one in its place, and the better verdict stands
    lenient  what is not allowed costs nothing here: oracles and known mistakes may be written with it
    """
    not_allowed = source.not_allowed(exercise.name, exercise.forbidden) if source else []
    verdict = _examine_once(exercise, ask, seed, device, {}, not_allowed, lenient)
    if verdict.earned < exercise.points and source and not not_allowed:
        called = source.reachable(exercise.name)
        wrong = [e for e, v in earlier if e.name in called and v.earned < e.points]
        if wrong:
            again = _examine_once(exercise, ask, seed, device, {e.name: e.stand_in for e in wrong}, [], lenient)
            if again.earned > verdict.earned:
                verdict = replace(again, followed_through=[e.name for e in wrong])
    return verdict


def _examine_once(
    exercise: Exercise,
    ask: Ask,
    seed: int,
    device: str,
    stand_ins: dict[str, str],
    not_allowed: list[str],
    lenient: bool,
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
    if used and verdict.status != "not started" and not lenient:
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


def _nothing(why: str) -> dict[str, object]:
    return {"type": "NoAnswer", "bases": ["NoAnswer"], "message": why, "line": ""}
