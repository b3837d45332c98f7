"""Examines one exercise: asks for an observation of every case, compares, diagnoses, and gives a verdict.

The judge never sees the learner's objects: `ask` is all that connects it with a kernel (or, in an instructor's
notebook, with a function in this process).

Does not cover: what is right (`references.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from course.harness.check_case import coerced
from course.harness.compare import Finding
from course.harness.diagnose import Diagnosis, diagnose
from course.harness.errors import not_written
from course.harness.forbidden_calls import user_visible_names
from course.harness.program import Observation
from course.harness.runner import drop_unchanged, observe

from ..errors import NoAnswer
from ..exercises.case import describe
from ..exercises.exercise import Exercise
from .codec import Ask
from .references import PreparedCase, judge_case, known_mistakes, mistake_findings, mistake_outcomes, prepare, programs
from .source_analysis import NotebookSource
from .verdict import CriterionVerdict, ExerciseVerdict

MAX_UNANSWERED = 3
MAX_USED = 20  # names of a call's that are told


def grade_exercise(
    exercise: Exercise,
    ask: Ask,
    *,
    seed: int = 0,
    source: NotebookSource | None = None,
    device: str = "cpu",
    earlier: Iterable[tuple[Exercise, ExerciseVerdict]] = (),
    ignore_forbidden: bool = False,
) -> ExerciseVerdict:
    """The verdict on one exercise.

    source   the submitted notebook's code, for what is not allowed and for what the answer calls
    earlier  exercises of the same notebook judged before this one: where the answer calls one that was wrong and that
             comes before it in the lesson, it is judged again with a right one in its place, and the better verdict
             stands
    lenient  what is not allowed costs nothing here: oracles and known mistakes may be written with it
    """
    not_allowed = source.not_allowed(exercise.name, exercise.forbidden) if source else []
    outcomes = _run_all_cases(
        exercise, ask, seed, device, {}, [] if ignore_forbidden else not_allowed, ignore_forbidden
    )
    followed: list[str] = []
    if outcomes.earned < exercise.points and source and not not_allowed:
        called = source.reachable(exercise.name) & source.earlier_exercises(exercise.name)
        wrong = [e for e, v in earlier if e.name in called and v.earned < e.points]
        if wrong:
            again = _run_all_cases(exercise, ask, seed, device, {e.name: e.sealed for e in wrong}, [], ignore_forbidden)
            if again.earned > outcomes.earned:
                outcomes, followed = again, [e.name for e in wrong]
    return replace(_verdict(outcomes, seed), followed_through=followed)


def known_verdict(exercise: Exercise, mistake: str, seed: int) -> ExerciseVerdict:
    """The verdict on a known mistake, which the judge has run and compared already, whatever is not allowed."""
    seen, findings = mistake_outcomes(exercise, seed)[mistake], mistake_findings(exercise, seed)[mistake]
    return _verdict(_Outcomes(exercise, prepare(exercise, seed), seen, findings), seed)


def earns_all(exercise: Exercise, names: Mapping[str, Any], seed: int = 0) -> bool:
    """Whether names of this process answer every case rightly; what is wrong is not told, which is much quicker."""

    def right(prepared: PreparedCase) -> bool:
        seen = observe(prepared.program(exercise.forbidden), names)
        return not seen.used and judge_case(prepared, seen) is None

    return all(map(right, prepare(exercise, seed)))


@dataclass
class _Outcomes:
    """What was seen of all cases of an exercise, and what was wrong with each. `used`: what is not allowed."""

    exercise: Exercise
    prepared: list[PreparedCase]
    seen: list[Observation] = field(default_factory=list)
    findings: list[Finding | None] = field(default_factory=list)
    used: list[str] = field(default_factory=list)

    def failing(self, criterion: int) -> list[int]:
        """The cases of a criterion, by number, that are wrong."""
        return [i for i, p in enumerate(self.prepared) if p.criterion == criterion and self.findings[i]]

    @property
    def untouched(self) -> bool:
        return all(not_written(one.raised) for one in self.seen)

    @property
    def earned(self) -> float:
        """Points, had nothing been explained yet."""
        if self.used and not self.untouched:
            return 0.0
        return sum(c.points for index, c in enumerate(self.exercise.criteria) if not self.failing(index))


def _run_all_cases(
    exercise: Exercise,
    ask: Ask,
    seed: int,
    device: str,
    stand_ins: dict[str, str],
    not_allowed: list[str],
    lenient: bool,
) -> _Outcomes:
    found = _Outcomes(exercise, prepare(exercise, seed), used=list(not_allowed))
    unanswered = 0
    asked = programs(exercise, seed, device, not lenient)
    if stand_ins:
        asked = tuple(replace(one, stand_ins=stand_ins) for one in asked)
    answers = ask([(program, p.case.seconds) for program, p in zip(asked, found.prepared, strict=True)])
    for p, program in zip(found.prepared, asked, strict=True):
        if unanswered >= MAX_UNANSWERED:
            found.seen.append(Observation(raised=_nothing("not reached")))
            found.findings.append(Finding("not reached", "not run: too many calls before it brought no answer"))
            continue
        one = next(answers)
        if isinstance(one, NoAnswer):
            unanswered += 1
            found.seen.append(Observation(raised=_nothing(str(one))))
            found.findings.append(Finding("no answer", str(one)))
            continue
        one = drop_unchanged(one, program)
        found.used += [name for name in one.used[:MAX_USED] if name not in found.used]
        found.seen.append(one)
        found.findings.append(judge_case(p, one, device))
    return found


def _verdict(found: _Outcomes, seed: int) -> ExerciseVerdict:
    exercise, diagnosis = found.exercise, _diagnosed(found, seed)
    criteria = [_criterion(found, index, diagnosis) for index in range(len(exercise.criteria))]
    earned = sum(c.earned for c in criteria)
    verdict = ExerciseVerdict(exercise.name, exercise.points, earned, "partly right", criteria, seed=seed)
    failing = [i for i, f in enumerate(found.findings) if f]
    if not failing:
        verdict.status = "right"
    elif found.untouched:
        verdict.status = "not started"
    elif earned == 0:
        verdict.status = "wrong"
    if failing and verdict.status != "not started":
        _name(exercise, verdict, diagnosis)
    if found.used and verdict.status != "not started":
        for criterion in criteria:
            criterion.earned = 0.0
        verdict.earned, verdict.status, verdict.not_allowed = 0.0, "not allowed", user_visible_names(found.used)
        verdict.explanation = f"Not allowed in this exercise: {', '.join(verdict.not_allowed)}. Write it yourself."
    return verdict


def _criterion(found: _Outcomes, index: int, diagnosis: Diagnosis) -> CriterionVerdict:
    criterion, failing = found.exercise.criteria[index], found.failing(index)
    if not failing:
        return CriterionVerdict(criterion.name, criterion.points, criterion.points, "right")
    findings = [finding for i in failing if (finding := found.findings[i])]
    return CriterionVerdict(
        criterion.name,
        criterion.points,
        0.0,
        "not reached" if all(finding.stage == "not reached" for finding in findings) else "wrong",
        describe(found.prepared[failing[0]].case),
        findings[0].stage,
        findings[0].text,
        diagnosis.explains[index] if diagnosis.explains else "",
    )


def _diagnosed(found: _Outcomes, seed: int) -> Diagnosis:
    """What known mistakes explain; they are looked at only where something was written, and is wrong."""
    if found.untouched or not any(found.findings):
        return Diagnosis()
    criteria = range(len(found.exercise.criteria))
    groups = [[i for i, p in enumerate(found.prepared) if p.criterion == c] for c in criteria]
    seen = [coerced(one, p.reference) for one, p in zip(found.seen, found.prepared, strict=True)]
    return diagnose(seen, found.findings, groups, known_mistakes(found.exercise, seed))


def _name(exercise: Exercise, verdict: ExerciseVerdict, diagnosis: Diagnosis) -> None:
    """Say in the verdict what was diagnosed, and where in the lesson to look."""
    mistakes = {mistake.name: mistake for mistake in exercise.mistakes}
    named = [mistakes[name] for name in diagnosis.names]
    verdict.mistake, verdict.also = ([m.name for m in named] + ["", ""])[:2]
    verdict.see, verdict.also_see = ([m.see for m in named] + ["", ""])[:2]
    verdict.family, verdict.also_family = ([m.family for m in named] + ["", ""])[:2]
    verdict.sure = diagnosis.sure
    verdict.explanation = diagnosis.to_sentence({m.name: m.text for m in named})
    verdict.see = verdict.see or exercise.see


def _nothing(why: str) -> dict[str, object]:
    return {"type": "NoAnswer", "bases": ["NoAnswer"], "message": why, "line": ""}
