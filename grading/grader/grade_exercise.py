"""Grades one exercise: observes every case, compares, diagnoses, gives a verdict.

The grader never sees the learner's objects: `ask` is its only connection to a kernel (or, in an instructor's notebook,
to a function in this process).

Does not cover: the right outcomes (`references`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from course.harness.check_case import coerced
from course.harness.diagnose import Diagnosis, diagnose
from course.harness.errors import not_written, public_type
from course.harness.forbidden_calls import user_visible_names
from course.harness.messages import Finding
from course.harness.program import Observation
from course.harness.runner import drop_unchanged
from course.harness.slips import slips

from ..errors import NoAnswer
from ..exercises.case import describe
from ..exercises.exercise import Exercise
from .codec import Ask
from .references import PreparedCase, judge_case, known_mistakes, mistake_findings, mistake_outcomes, prepare, programs
from .source_analysis import NotebookSource
from .verdict import CriterionVerdict, ExerciseVerdict, forbid

MAX_UNANSWERED = 3
MAX_USED = 20  # names reported per call


def grade_exercise(
    exercise: Exercise,
    ask: Ask,
    *,
    seed: int = 0,
    source: NotebookSource | None = None,
    device: str = "cpu",
    in_place: Iterable[Exercise] = (),
    ignore_forbidden: bool = False,
) -> ExerciseVerdict:
    """Grade one exercise.

    source    the submitted notebook's code, for forbidden names
    in_place  exercises of which the kernel gets a right answer in place of the learner's (`follow_through`)
    ignore_forbidden  what is forbidden costs nothing: reference answers and known mistakes may use it
    """
    named = source.not_allowed(exercise.name, exercise.forbidden) if source and not ignore_forbidden else []
    stand_ins = {other.name: other.sealed for other in in_place}
    submitted = source.checksum if source else None
    outcomes = _run_all_cases(exercise, ask, seed, device, stand_ins, named, ignore_forbidden, submitted)
    return _verdict(outcomes, seed)


def known_verdict(exercise: Exercise, mistake: str, seed: int) -> ExerciseVerdict:
    """The verdict on a known mistake from its outcomes, whatever is forbidden."""
    seen, findings = mistake_outcomes(exercise, seed)[mistake], mistake_findings(exercise, seed)[mistake]
    return _verdict(_Outcomes(exercise, prepare(exercise, seed), seen, findings), seed)


@dataclass
class _Outcomes:
    """Observations and findings of all cases. `used`: forbidden names."""

    exercise: Exercise
    prepared: list[PreparedCase]
    seen: list[Observation] = field(default_factory=list)
    findings: list[Finding | None] = field(default_factory=list)
    used: list[str] = field(default_factory=list)

    def failing(self, criterion: int) -> list[int]:
        """Indices of a criterion's failing cases."""
        return [
            i
            for i, (p, f) in enumerate(zip(self.prepared, self.findings, strict=True))
            if f and p.costs(f) == criterion
        ]

    @property
    def untouched(self) -> bool:
        return all(not_written(observation.raised) for observation in self.seen)

    @property
    def earned(self) -> float:
        """Points before any diagnosis."""
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
    ignore_forbidden: bool,
    submitted: int | None,
) -> _Outcomes:
    found = _Outcomes(exercise, prepare(exercise, seed), used=list(not_allowed))
    unanswered = 0
    case_programs = programs(exercise, seed, device, not ignore_forbidden)
    if stand_ins:
        case_programs = tuple(replace(program, stand_ins=stand_ins) for program in case_programs)
    order = _order(found.prepared, seed, submitted)
    answers = ask([(case_programs[i], found.prepared[i].case.seconds) for i in order])
    results = dict[int, tuple[Observation, Finding | None]]()
    for i in order:
        if unanswered >= MAX_UNANSWERED:
            why = "not run: too many calls before it brought no answer"
            results[i] = Observation(raised=_no_answer("not reached")), Finding("not reached", why)
            continue
        observation = next(answers)
        if isinstance(observation, NoAnswer):
            unanswered += 1
            why = str(observation)
            results[i] = Observation(raised=_no_answer(why)), Finding("no answer", why)
            continue
        observation = drop_unchanged(observation, case_programs[i])
        found.used += [name for name in observation.used[:MAX_USED] if name not in found.used]
        results[i] = observation, judge_case(found.prepared[i], observation, device)
    found.seen, found.findings = map(list, zip(*(results[i] for i in range(len(order))), strict=True))
    return found


def _order(prepared: Sequence[PreparedCase], seed: int, submitted: int | None) -> list[int]:
    """The order in which cases are asked.

    If all answers are yes or no, it differs for each submission, because a list of them would be right in one order.

    submitted  the submission's checksum, if there is one
    """
    order = list(range(len(prepared)))
    right = [list(p.reference.native.values.values()) for p in prepared if not p.case.options.raises]
    if submitted is not None and all(len(values) == 1 and isinstance(values[0], bool) for values in right):
        Random(f"{seed} {submitted}").shuffle(order)
    return order


def _verdict(found: _Outcomes, seed: int) -> ExerciseVerdict:
    exercise, diagnosis = found.exercise, _diagnose_failures(found, seed)
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
        _add_diagnosis(exercise, verdict, diagnosis)
    if found.used and verdict.status != "not started":
        forbid(verdict, user_visible_names(found.used))
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
        public_type(found.seen[failing[0]].raised),
    )


def _diagnose_failures(found: _Outcomes, seed: int) -> Diagnosis:
    """Diagnose failing cases by known mistakes, if anything was written."""
    if found.untouched or not any(found.findings):
        return Diagnosis()
    named = [i for i, p in enumerate(found.prepared) if p.names]
    if any(found.findings[i] for i in named):
        known = known_mistakes(found.exercise, seed)
    else:  # only sizes are wrong, which may still show a slip
        named, known = list(range(len(found.prepared))), []
    prepared, seen = [found.prepared[i] for i in named], [found.seen[i] for i in named]
    findings = [found.findings[i] for i in named]
    costs = [p.costs(f) for p, f in zip(prepared, findings, strict=True)]
    groups = [[i for i, cost in enumerate(costs) if cost == c] for c in range(len(found.exercise.criteria))]
    alike = [coerced(observation, p.reference) for observation, p in zip(seen, prepared, strict=True)]
    return diagnose(alike, findings, groups, known, slips(found.exercise.name, seen, findings))


def _add_diagnosis(exercise: Exercise, verdict: ExerciseVerdict, diagnosis: Diagnosis) -> None:
    """Add the diagnosis to the verdict, and where in the lesson to look."""
    mistakes = {mistake.name: mistake for mistake in exercise.mistakes}
    named = [mistakes[name] for name in diagnosis.names]
    verdict.mistake, verdict.second_mistake = ([m.name for m in named] + ["", ""])[:2]
    verdict.section, verdict.second_section = ([m.see for m in named] + ["", ""])[:2]
    verdict.family, verdict.second_family = ([m.family for m in named] + ["", ""])[:2]
    verdict.certain = diagnosis.sure or not diagnosis.names
    verdict.explanation, verdict.advice = diagnosis.explain({m.name: m.text for m in named})
    verdict.section = verdict.section or exercise.see


def _no_answer(why: str) -> dict[str, object]:
    return {"type": "NoAnswer", "bases": ["NoAnswer"], "message": why, "line": ""}
