"""Runs of mutants: the criteria that each one loses.

A mutant is judged like an answer: an exception or an endless loop costs it what they cost a student. An exception of
the judge is our error and propagates.

Does not cover: making mutants (`mutants.py`), which of them may survive (`equivalents.py`).
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from course.harness.runner import observe

from ..exercises.exercise import Exercise
from ..grader.references import PreparedCase, judge_case, prepare
from .mutants import Mutant


@dataclass
class Trials:
    """The outcome of an exercise's mutants.

    caught     criterion -> number of mutants that it was the first to catch
    alone      criterion -> an answer that only this criterion catches, if one is known
    lucky      mutants that lose nothing with some seed, but something with another
    survivors  mutants that lose nothing with any seed
    """

    tried: int = 0
    caught: dict[str, int] = field(default_factory=dict)
    alone: dict[str, str] = field(default_factory=dict)
    lucky: list[Mutant] = field(default_factory=list)
    survivors: list[Mutant] = field(default_factory=list)


def try_mutants(
    exercise: Exercise,
    mutants: Iterable[Mutant],
    names: Callable[[str], Mapping[str, Any]],
    seeds: tuple[int, ...],
    alone: Mapping[str, str],
) -> Trials:
    """Try each mutant with one of the seeds, and with the others if it loses nothing.

    names  gives the names that a notebook defines whose answer is this text
    alone  criterion -> an answer that only this criterion catches, as far as known
    """
    trials = Trials(alone=dict(alone))
    for mutant in mutants:
        trials.tried += 1
        defined = names(mutant.code)
        first = mutant.number % len(seeds)
        for turn, seed in enumerate([*seeds[first:], *seeds[:first]]):
            if _note(trials, exercise, mutant, lost_criteria(exercise, defined, seed)):
                trials.lucky += [mutant] if turn else []
                break
        else:
            trials.survivors.append(mutant)
    return trials


def _note(trials: Trials, exercise: Exercise, mutant: Mutant, losing: Iterator[str]) -> bool:
    """Record the criterion that catches a mutant; return whether there is one.

    A second criterion is looked for only if no answer is known that the first alone catches.
    """
    first = next(losing, None)
    if first is None:
        return False
    trials.caught[first] = trials.caught.get(first, 0) + 1
    if first not in trials.alone and next(losing, None) is None:
        trials.alone[first] = f"mutant of {mutant}"
    return True


def lost_criteria(
    exercise: Exercise, names: Mapping[str, Any], seed: int, device: str = "cpu", *, lenient: bool = False
) -> Iterator[str]:
    """Yield the criteria that the answer in `names` does not earn, as they are found.

    lenient  forbidden functions cost nothing, because known mistakes may use them
    """
    forbidden = () if lenient else exercise.forbidden
    lost = set[int]()
    for prepared in prepare(exercise, seed):
        cost = None if prepared.criterion in lost else _cost(prepared, forbidden, names, device)
        if cost is not None and cost not in lost:
            lost.add(cost)
            yield exercise.criteria[cost].name


def _cost(prepared: PreparedCase, forbidden: tuple[str, ...], names: Mapping[str, Any], device: str) -> int | None:
    """Index of the criterion that this case costs, or None."""
    program = prepared.program(forbidden, device)
    try:
        with _seconds(prepared.case.seconds):
            seen = observe(program, names)
    except TimeoutError:
        return prepared.criterion
    finding = judge_case(prepared, seen, device)
    return prepared.costs(finding) if finding or seen.used else None


@contextlib.contextmanager
def _seconds(limit: float) -> Iterator[None]:
    """Raise TimeoutError after `limit` seconds of CPU time, for a mutant that never ends."""

    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
