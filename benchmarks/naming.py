"""Diagnoses of answers with two known mistakes at once.

    python -m benchmarks.naming [lesson ...]

A second-order mutant is a correct answer with the edits of two of its known mistakes. Its diagnosis names
    both         both of them
    one          one of the two, and not the other
    hedged       one of the two, as what may be wrong
    another      a known mistake that the two make together: no case tells them from it
    one + other  one of the two, and a mistake that is neither
    nothing
    wrong        a mistake that is neither, for certain or as what may be wrong
Mutants that earn all points or cannot be made are left out. If an exercise has more than `most` pairs, that many are
drawn.

    python -m benchmarks.naming --unknown [lesson ...]

Instead, each known mistake is diagnosed as if it were not known, like a wrong answer that nobody thought of. Its
diagnosis is
    family       another mistake of its family: the same sentence
    slip         a slip common to all exercises
    nothing
    hedged       another mistake, as what may be wrong
    other        another mistake, or two, for certain
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from itertools import combinations
from pathlib import Path

from course.harness.check_case import coerced
from course.harness.diagnose import diagnose, same_outcome
from course.harness.program import Observation, Program
from course.harness.runner import observe
from course.harness.slips import slips
from grading.errors import EditError
from grading.exercises.answer_text import Answer
from grading.exercises.exercise import Exercise, Mistake
from grading.exercises.lesson import load_lesson
from grading.grader.codec import Answers
from grading.grader.grade_exercise import grade_exercise
from grading.grader.references import known_mistakes, mistake_findings, mistake_outcomes, prepare
from grading.grader.verdict import ExerciseVerdict

ROOT = Path(__file__).resolve().parents[1]
UNKNOWN = ("family", "slip", "nothing", "hedged", "other")
SAID = ("both", "one", "hedged", "another", "one + other", "nothing", "wrong")


def together(one: Mistake, other: Mistake) -> Answer | None:
    """The answer with the edits of both; None if they edit two answers, or conflict."""
    if one.base is None or one.base is not other.base:
        return None
    code = one.base.code
    try:
        for edit in (*one.edits, *other.edits):
            code = edit(code)
        made = Answer(one.exercise_name, f"{one.name} + {other.name}", code)
        return made if made.load() else None
    except (EditError, SyntaxError):
        return None


def judged(exercise: Exercise, answer: Answer, seed: int) -> tuple[ExerciseVerdict, list[Observation]]:
    """The verdict on an answer, and its observation in every case."""
    seen: list[Observation] = []
    names = {exercise.name: answer.load()}

    def ask(programs: list[tuple[Program, float]]) -> Answers:
        for program, _ in programs:
            seen.append(observe(program, names))
            yield seen[-1]

    return grade_exercise(exercise, ask, seed=seed, ignore_forbidden=True), seen


def said(exercise: Exercise, verdict: ExerciseVerdict, seen: list[Observation], right: set[str], seed: int) -> str:
    """The diagnosis of an answer with the two mistakes `right`: one of SAID."""
    named = {verdict.mistake, verdict.second_mistake} - {""}
    if not named:
        return "nothing"
    if named <= right:
        return "both" if len(named) == 2 else "one" if verdict.certain else "hedged"
    if named & right:
        return "one + other"
    known = mistake_outcomes(exercise, seed)[verdict.mistake]
    return "another" if len(named) == 1 and all(map(same_outcome, seen, known)) else "wrong"


def pairs(exercise: Exercise, most: int, seed: int) -> list[tuple[Mistake, Mistake]]:
    """At most `most` pairs of mistakes that edit the same answer, in random order."""
    found = [
        two for two in combinations(exercise.mistakes, 2) if two[0].base is not None and two[0].base is two[1].base
    ]
    random.Random(f"{exercise.name} {seed}").shuffle(found)
    return found[:most]


def count(exercise: Exercise, most: int, seed: int, tell: bool = False) -> Counter[str]:
    """How often each of SAID is the diagnosis."""
    found: Counter[str] = Counter()
    for one, other in pairs(exercise, most, seed):
        answer = together(one, other)
        verdict, seen = judged(exercise, answer, seed) if answer else (None, [])
        if verdict is None or verdict.earned == exercise.points:
            continue
        what = said(exercise, verdict, seen, {one.name, other.name}, seed)
        found[what] += 1
        if tell and what in ("wrong", "one + other"):
            print(f"    {one.name} + {other.name}: {verdict.mistake_names}", flush=True)
    return found


def unknown(exercise: Exercise, seed: int, tell: bool = False) -> Counter[str]:
    """How often each of UNKNOWN is the diagnosis of a mistake that is left out of those known."""
    found: Counter[str] = Counter()
    prepared, known = prepare(exercise, seed), known_mistakes(exercise, seed)
    groups = [[i for i, p in enumerate(prepared) if p.criterion == c] for c in range(len(exercise.criteria))]
    by_name = {mistake.name: mistake for mistake in exercise.mistakes}
    for name, mistake in by_name.items():
        seen, findings = mistake_outcomes(exercise, seed)[name], mistake_findings(exercise, seed)[name]
        given = [coerced(item, p.reference) for item, p in zip(seen, prepared, strict=True)]
        others, hints = [k for k in known if k.name != name], slips(exercise.name, seen, findings)
        said = diagnose(given, findings, groups, others, hints)
        family = mistake.family and {by_name[other].family for other in said.names} == {mistake.family}
        certain = "other" if said.sure else "hedged"
        what = "slip" if said.slip else "family" if family else certain if said.names else "nothing"
        found[what] += 1
        if tell and what in ("hedged", "other"):
            print(f"    {name}: {what} {' + '.join(said.names)}", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lessons", nargs="*")
    parser.add_argument("--most", type=int, default=60, help="pairs for each exercise")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--unknown", action="store_true", help="leave each known mistake out instead")
    parser.add_argument("--tell", action="store_true", help="print what is named wrongly")
    args = parser.parse_args()
    lessons = args.lessons or sorted(path.name for path in (ROOT / "grader_tests").glob("[0-9]*"))
    total: Counter[str] = Counter()
    kinds = UNKNOWN if args.unknown else SAID
    for lesson in lessons:
        for exercise in load_lesson(ROOT / "grader_tests" / lesson).exercises.values():
            if args.unknown:
                found = unknown(exercise, args.seed, args.tell)
            else:
                found = count(exercise, args.most, args.seed, args.tell)
            total += found
            print(f"{exercise.name:30}", *(f"{what} {found[what]:3};" for what in kinds), flush=True)
    print(f"{'all':30}", *(f"{what} {total[what]:3};" for what in kinds))


if __name__ == "__main__":
    main()
