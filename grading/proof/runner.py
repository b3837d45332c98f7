"""Proves lessons before they are released: `grading check`, and what `grading release` asks for.

Exercises are proved side by side. What is proved is remembered by its content: the lesson's code, the exercise's grader
tests, the judge, and the versions that they run in. An exercise of which none has changed needs no new proof.

Does not cover: how one exercise is proved (`prover.py`).
"""

from __future__ import annotations

import platform
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

import course.harness

from .. import exercises, grader
from ..authoring.build import build_lesson
from ..course_dir.fingerprints import Ledger, digest, sources
from ..exercises.lesson import load_lesson
from ..grader.verdict_report import present
from .equivalents import FILE as LIST
from .equivalents import read_equivalents, written
from .parallel import side_by_side
from .prover import Problem, Proof, Prover, own_code
from .report_data import figures

FILE = ".proved"  # in the course's directory: lesson/exercise -> what was proved, in JSON


@dataclass
class Found:
    """What was found about one exercise, as plain data; `figures` is what is published (`strength.figures`)."""

    lesson: str
    exercise: str
    told: str
    problems: list[Problem]
    figures: dict[str, Any] = field(default_factory=dict)


def check(
    root: Path,
    names: Iterable[str],
    only: str = "",
    *,
    mutate: bool = True,
    verbose: bool = False,
    again: bool = True,
) -> list[Found]:
    """Prove lessons, telling what is found as it is found.

    only     name of one exercise
    verbose  print the report of every known mistake
    again    prove what is proved as it is, too
    """
    names = list(names)
    found = [
        Found(name, "", f"no grader_tests/{name}", [_missing(name)]) for name in names if not _described(root, name)
    ]
    names = [name for name in names if _described(root, name)]
    for name in names:
        build_lesson(root, name)
    for one in found:
        print(one.told, flush=True)
    ledger = Ledger(root / FILE)
    known = ledger.read()
    current = {_key(root, name, e): made for name in names for e, made in fingerprints(root, name).items()}
    exercises = _exercises(root, names, only)
    left = [one for one in exercises if again or known.get(_key(*one)) != current[_key(*one)]]
    if kept := len(exercises) - len(left):
        print(f"proved as they are, and not again without `--again`: {kept}", flush=True)
    for (_, lesson, exercise, *_), done in side_by_side(proved, [(*one, mutate, verbose) for one in left]):
        one = _failed(lesson, exercise, done) if isinstance(done, Exception) else done
        print(one.told, flush=True)
        found.append(one)
        if mutate and not one.problems:
            key = _key(root, lesson, exercise)
            ledger.add({key: current[key]})
    return found


def survivors(root: Path, names: Iterable[str], only: str = "") -> None:
    """Print the mutants that lose nothing as `equivalent.toml` has them, with the reasons that are known."""
    for _, done in side_by_side(surviving, _exercises(root, names, only)):
        if isinstance(done, Exception):
            raise done
        print(done, end="", flush=True)


def surviving(root: Path, lesson: str, name: str) -> str:
    """The mutants of one exercise that lose nothing, under the name of the file that they belong to."""
    made, folder = prover(root, lesson), f"grader_tests/{lesson}/{name}"
    exercise = made.lesson.all_exercises[name]
    found = map(str, made.tried(exercise, made.mutants(exercise)).survivors)
    listed = written(found, read_equivalents(root / folder))
    return f"# {folder}/{LIST}\n{listed}\n" if listed else ""


def unproved(root: Path, names: Iterable[str]) -> list[str]:
    """The lessons with an exercise that has changed, or runs in other versions, since it was proved."""
    known = Ledger(root / FILE).read()

    def proved_as_it_is(name: str) -> bool:
        return all(known.get(f"{name}/{e}") == made for e, made in fingerprints(root, name).items())

    return [name for name in names if not (_described(root, name) and proved_as_it_is(name))]


def fingerprints(root: Path, name: str) -> dict[str, str]:
    """For each exercise of a lesson a hash of all that its proof depends on."""
    tests = root / "grader_tests"
    engine = [Path(part).parent for part in (grader.__file__, exercises.__file__, course.harness.__file__, __file__)]
    of_course = [engine[2].parent / part for part in ("sample_models", "checkers", "check_data.py")]
    common = sources(*of_course, *sorted((tests / name).glob("*.py")), tests / "shared", *engine)
    about = [torch.__version__, platform.python_version(), *(cell.source for cell in own_code(root, name))]
    every = load_lesson(tests / name).all_exercises
    return {exercise: digest([*sources(tests / name / exercise), *common], *about) for exercise in every}


def _described(root: Path, name: str) -> bool:
    return (root / "grader_tests" / name).exists()


def _missing(name: str) -> Problem:
    return Problem(f"grader_tests/{name}", "there is none", "Describe the lesson's exercises; see docs/authors.md.")


def _key(root: Path, lesson: str, exercise: str) -> str:
    return f"{lesson}/{exercise}"


def _exercises(root: Path, names: Iterable[str], only: str) -> list[tuple[Path, str, str]]:
    """(root, lesson, exercise) of all; the last lessons take longest, and are begun first."""
    every = (
        (name, e) for name in reversed(list(names)) for e in load_lesson(root / "grader_tests" / name).all_exercises
    )
    return [(root, name, e) for name, e in every if only in ("", e)]


@lru_cache(maxsize=2)
def prover(root: Path, name: str) -> Prover:
    return Prover(root, name)


def proved(root: Path, lesson: str, name: str, mutate: bool, verbose: bool) -> Found:
    """Prove one exercise. What is raised is an error of ours."""
    made = prover(root, lesson)
    proof = made.prove(made.lesson.all_exercises[name], mutate=mutate)
    told = "\n".join([f"{lesson} {proof}", *(_reports(proof) if verbose else ())])
    return Found(lesson, name, told, proof.problems, figures(proof))


def _failed(lesson: str, name: str, error: Exception) -> Found:
    last = traceback.format_exception(error)[-2:]
    problem = Problem(
        f"grader_tests/{lesson}/{name}", "".join(last).strip(), "The proof itself failed: mend that first."
    )
    return Found(lesson, name, f"{lesson} {name}: ✗ {problem}", [problem])


def _reports(proof: Proof) -> Iterator[str]:
    for answer, verdicts in proof.verdicts.items():
        if answer.startswith("mistake "):
            yield f"\n{answer.removeprefix('mistake ')}\n{present(verdicts[0]).to_text()}"
