"""Errors of correct and wrong answers over many seeds, and points that vary with it.

Tolerances rest on these figures. The error of a correct answer is a small fraction of the tolerance; the error of a
mistake, in a criterion that it must lose, is a multiple of it. Both are measured by the judge's own comparison: the
error is scaled up or down until the verdict changes.

Does not cover: results that are checked for a property rather than compared by numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from course.harness.compare import leaves
from course.harness.messages import Finding
from course.harness.program import Observation
from course.harness.runner import observe
from grading.exercises.exercise import Exercise
from grading.grader.grade_exercise import known_verdict
from grading.grader.references import PreparedCase, judge_case, mistake_findings, mistake_outcomes, prepare

FRESH = range(1000, 1100)  # seeds that no author has looked at
NAMED = 3  # of these seeds, those used to count which mistake's name is given; that takes longest
USUAL = 5.0  # seconds that a case may take; an exercise with longer ones is tried with a tenth of the seeds
LIMIT = 1e6  # largest factor by which errors are scaled up or down
DTYPES = (torch.float32, torch.float64)

Extreme = tuple[float, str]  # a figure, and the answer that it belongs to


@dataclass
class Exactness:
    """Measurements of one exercise.

    draws     number of cases in which numbers were compared, over all correct answers and seeds
    right     dtype -> the largest error of a correct answer, as a fraction of the tolerance
    wrong     dtype -> the smallest error of a mistake in a criterion that it must lose, as a multiple of the tolerance
    changing  answer -> points -> number of seeds, for answers whose points vary
    named     mistake -> the name that was given -> number of times
    """

    seeds: int = 0
    draws: int = 0
    right: dict[str, Extreme] = field(default_factory=dict)
    wrong: dict[str, Extreme] = field(default_factory=dict)
    changing: dict[str, dict[str, int]] = field(default_factory=dict)
    named: dict[str, dict[str, int]] = field(default_factory=dict)


def measure(exercise: Exercise, right: Mapping[str, Mapping[str, Any]], seeds: Iterable[int] = FRESH) -> Exactness:
    """Judge all known answers with each seed.

    right  name of a correct answer -> the names that a notebook with it defines
    """
    found, points = Exactness(), {}  # type: ignore[var-annotated]
    for turn, seed in enumerate(_affordable(exercise, list(seeds))):
        prepared = prepare(exercise, seed)
        answers = {
            name: [observe(p.program(exercise.forbidden), names) for p in prepared] for name, names in right.items()
        }
        for name, seen in answers.items():
            findings = list(map(judge_case, prepared, seen))
            _count(points, name, _points(exercise, prepared, findings))
            _note_right(found, name, [(p, s) for p, s, f in zip(prepared, seen, findings) if not f])
        for name, seen in mistake_outcomes(exercise, seed).items():
            findings = mistake_findings(exercise, seed)[name]
            _count(points, f"mistake {name}", _points(exercise, prepared, findings))
            _note_wrong(found, exercise, name, prepared, seen, findings)
            if turn < NAMED:
                _count(found.named, name, known_verdict(exercise, name, seed).mistake_names or "nothing")
        found.seeds += 1
        for kept in (prepare, mistake_outcomes, mistake_findings):  # for so many seeds they would fill the memory
            kept.cache_clear()
    found.changing = {name: counts for name, counts in points.items() if len(counts) > 1}
    return found


def _affordable(exercise: Exercise, seeds: list[int]) -> list[int]:
    dear = any(p.case.seconds > USUAL for p in prepare(exercise, seeds[0]))
    return seeds[: max(1, len(seeds) // 10)] if dear else seeds


def _points(exercise: Exercise, prepared: list[PreparedCase], findings: list[Finding | None]) -> str:
    lost = {p.costs(finding) for p, finding in zip(prepared, findings) if finding}
    return f"{sum(c.points for i, c in enumerate(exercise.criteria) if i not in lost):g}"


def _count(counts: dict[str, dict[str, int]], name: str, what: str) -> None:
    counts.setdefault(name, {})[what] = counts.get(name, {}).get(what, 0) + 1


def _note_right(found: Exactness, name: str, right: list[tuple[PreparedCase, Observation]]) -> None:
    for p, seen in right:
        dtype = _compared(p)
        if dtype is None:
            continue
        found.draws += 1
        worst = found.right.setdefault(dtype, (0.0, ""))[0]
        if not _passes(p, seen, min(LIMIT, 1 / max(worst, 1 / LIMIT))):
            found.right[dtype] = (_multiple(lambda factor, p=p, s=seen: _passes(p, s, factor)), name)  # type: ignore[misc]


def _note_wrong(
    found: Exactness,
    exercise: Exercise,
    name: str,
    prepared: list[PreparedCase],
    seen: list[Observation],
    findings: list[Finding | None],
) -> None:
    """Record the error in each criterion that the answer loses by values alone."""
    shown = next((m.loses for m in exercise.mistakes for one in m.all_forms if one.name == name), ())
    for index, criterion in enumerate(exercise.criteria):
        lost = [(p, s) for p, s, f in zip(prepared, seen, findings) if f and p.costs(f) == index]
        if criterion.name in shown and all(_compared(p) for p, _ in lost):
            for dtype in {_compared(p) for p, _ in lost} - {None}:
                those = [(p, s) for p, s in lost if _compared(p) == dtype]
                _note_least(found.wrong, str(dtype), f"{name}: {criterion.name}", those)


def _note_least(
    wrong: dict[str, Extreme], dtype: str, whose: str, lost: list[tuple[PreparedCase, Observation]]
) -> None:
    def unseen(factor: float) -> bool:
        return all(_passes(p, s, factor) for p, s in lost)

    least = wrong.get(dtype, (LIMIT, ""))[0]
    if unseen(1 / least) and (multiple := _multiple(unseen)) < least:
        wrong[dtype] = (multiple, whose)


def _compared(p: PreparedCase) -> str | None:
    """The dtype of the numbers that a case compares; None if it compares none."""
    if p.case.options.device_only:
        return None
    native = p.reference.native
    if p.case.options.check_with or p.case.options.does_not_raise or native.raised is not None:
        return None
    tensors = [v for _, v in leaves(native.values) if isinstance(v, torch.Tensor)]
    numbers = [v for v in tensors if v.dtype in DTYPES]
    return str(numbers[0].dtype).removeprefix("torch.") if numbers else None


def _multiple(passes: Callable[[float], bool]) -> float:
    """The error as a multiple of the tolerance, accurate to a tenth; at most LIMIT."""
    low, high = 1 / LIMIT, LIMIT  # factors: the lower one passes, the upper one does not
    if not passes(low):
        return LIMIT
    while high / low > 1.1:
        middle = (low * high) ** 0.5
        low, high = (middle, high) if passes(middle) else (low, middle)
    return 1 / low


def _passes(p: PreparedCase, seen: Observation, factor: float) -> bool:
    """Whether the observation would be right if its errors were multiplied by `factor`."""
    exact = p.reference.exact
    if seen.raised is not None:
        return False
    right = exact.gradients or {}
    gradients = seen.gradients and {k: _moved(g, right.get(k), factor) for k, g in seen.gradients.items()}
    values = {k: _moved(v, exact.values.get(k), factor) for k, v in seen.values.items()}
    return judge_case(p, replace(seen, values=values, gradients=gradients)) is None


def _moved(found: Any, right: Any, factor: float) -> Any:
    if isinstance(found, torch.Tensor) and found.is_floating_point():
        target = torch.zeros_like(found) if right is None else right
        if not isinstance(target, torch.Tensor) or target.shape != found.shape:
            return found
        moved = target.double() + factor * (found.double() - target.double())
        return torch.where(torch.isfinite(moved), moved, found.double()).to(found.dtype)
    if isinstance(found, float) and isinstance(right, (int, float)):
        return right + factor * (found - right)
    if isinstance(found, (list, tuple)) and isinstance(right, (list, tuple)) and len(found) == len(right):
        return type(found)(_moved(f, r, factor) for f, r in zip(found, right))
    if isinstance(found, dict) and isinstance(right, dict):
        return {key: _moved(item, right.get(key), factor) for key, item in found.items()}
    return found
