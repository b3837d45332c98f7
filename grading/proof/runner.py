"""Proofs of lessons before a release, for `grading prove` and `grading release`.

Exercises are proved in parallel. Each proof is stored under a fingerprint of the lesson's code, the exercise's modules,
the prover and everything that these import, and of the versions that they run in. If none of these has changed, an
exercise needs no new proof. The shipped lessons are already proved for the tested versions.

Does not cover: how one exercise is proved (`prover.py`).
"""

from __future__ import annotations

import platform
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import torch

from ..authoring.build import build_lesson
from ..course_dir.fingerprints import (
    Packages,
    fingerprint_file,
    packages,
    python_files,
    shipped_fingerprints,
    text_digest,
)
from ..course_dir.lessons import is_ordinary
from ..exercises.lesson import load_lesson
from ..grader.verdict_report import to_report
from .clauses import open_clauses, page_of, read_page
from .equivalents import FILE as LIST
from .equivalents import read_equivalents, to_toml
from .parallel import run_in_parallel
from .prover import Problem, Proof, Prover, own_code
from .verdict_records import compact

PROOF = "proof of {} with "  # begins the name of an exercise's proof in the file of fingerprints
PROVER = "grading/proof/prover.py"
REMEDY = "Add the case or the claim, or delete a clause that is not worth them."
Wanted = tuple[str, str]
"""A lesson, and one of its exercises."""


@dataclass
class ProofResult:
    """Findings on one exercise, as plain data.

    verdicts  known answer -> its verdicts in short (`Proof.short_verdicts`)
    """

    lesson: str
    exercise: str
    text: str
    problems: list[Problem]
    verdicts: dict[str, list[str]] = field(default_factory=dict)

    @property
    def key(self) -> str:
        return f"{self.lesson}/{self.exercise}"


def check(
    root: Path,
    names: Iterable[str],
    only: str = "",
    *,
    mutate: bool = True,
    verbose: bool = False,
    again: bool = True,
    report: Callable[[ProofResult], object] = lambda result: None,
) -> list[ProofResult]:
    """Prove lessons, and print each exercise's result as soon as it is known.

    only     name of one exercise
    verbose  print the report of every known mistake
    again    also prove exercises that have a valid proof
    report   called with each exercise's result as soon as it is known
    """
    names = list(names)
    results = [
        ProofResult(name, "", f"no grader_tests/{name}", [_missing(name)])
        for name in names
        if not _described(root, name)
    ]
    names = [name for name in names if _described(root, name)]
    for name in names:
        build_lesson(root, name)
        results += _ledger(root, name)
    for result in results:
        print(result.text, flush=True)
        report(result)
    every = exercises_of(root, names, only)
    left = every if again else [wanted for wanted in not_proved(root, names) if wanted in every]
    if kept := len(every) - len(left):
        print(f"already proved and unchanged, so not proved again (`--again` proves all): {kept}", flush=True)
    for result in prove(root, left, mutate=mutate, verbose=verbose):
        print(result.text, flush=True)
        report(result)
        results.append(result)
    return results


def prove(root: Path, wanted: Iterable[Wanted], *, mutate: bool = True, verbose: bool = False) -> Iterator[ProofResult]:
    """Prove exercises in parallel, and store the proofs of those without problems."""
    tasks = [(root, lesson, exercise, mutate, verbose) for lesson, exercise in wanted]
    current = {f"{name}/{e}": f for name in {task[1] for task in tasks} for e, f in fingerprints(root, name).items()}
    for (_, lesson, exercise, *_), done in run_in_parallel(prove_exercise, tasks):
        result = _failed(lesson, exercise, done) if isinstance(done, Exception) else done
        if mutate and not result.problems:
            fingerprint_file(root).add({proof_of(result.key): current[result.key]})
        yield result


def survivors(root: Path, names: Iterable[str], only: str = "") -> None:
    """Print mutants that lose nothing, in the format of `equivalent.toml`, with reasons."""
    for _, done in run_in_parallel(survivors_as_toml, [(root, *wanted) for wanted in exercises_of(root, names, only)]):
        if isinstance(done, Exception):
            raise done
        print(done, end="", flush=True)


def survivors_as_toml(root: Path, lesson: str, name: str) -> str:
    """The mutants of one exercise that lose nothing, below the name of their file."""
    own_prover, folder = prover(root, lesson), f"grader_tests/{lesson}/{name}"
    exercise = own_prover.lesson.all_tasks[name]
    if not exercise.points:
        return ""
    known = read_equivalents(root / folder)
    survivors = own_prover.run_mutants(exercise, own_prover.mutants(exercise)).survivors
    unexplained = [
        str(mutant) for mutant in survivors if str(mutant) in known or not own_prover.why_equivalent(exercise, mutant)
    ]
    listed = to_toml(unexplained, known)
    return f"# {folder}/{LIST}\n{listed}\n" if listed else ""


def unproved(root: Path, names: Iterable[str]) -> list[str]:
    """Lessons with an exercise that has no valid proof for its code and the versions."""
    described = [name for name in names if _described(root, name)]
    left = {lesson for lesson, _ in not_proved(root, described)}
    return [name for name in names if name in left or not (name in described or is_ordinary(root, name))]


def not_proved(root: Path, names: Iterable[str], code: Packages | None = None) -> list[Wanted]:
    """Exercises without a valid proof, stored here or shipped."""
    names, code = list(names), code or packages(root / "grader_tests")
    here, shipped = fingerprint_file(root).read(), shipped_fingerprints()
    now = {f"{name}/{e}": digest for name in names for e, digest in fingerprints(root, name, code).items()}
    proofs = {key for key, digest in now.items() if digest in (here.get(proof_of(key)), shipped.get(proof_of(key)))}
    return [wanted for wanted in exercises_of(root, names) if "/".join(wanted) not in proofs]


def fingerprints(root: Path, name: str, code: Packages | None = None) -> dict[str, str]:
    """Exercise -> hash of all that its proof depends on, except Python and torch."""
    tests, code = root / "grader_tests", code or packages(root / "grader_tests")
    own = [text_digest(cell.source) for cell in own_code(root, name)]

    def fingerprint_of(folder: Path) -> str:
        listed = [path for path in [folder / LIST] if path.is_file()]
        return code.fingerprint(PROVER, *python_files(folder), *listed, about=own)

    return {exercise: fingerprint_of(tests / name / exercise) for exercise in load_lesson(tests / name).all_tasks}


def proof_of(key: str) -> str:
    """The name of an exercise's proof with these versions in the file of fingerprints."""
    return f"{PROOF.format(key)}{versions()}"


def versions() -> str:
    """The versions that a proof is valid for: a torch for other devices computes the same on the processor."""
    major, minor, _ = platform.python_version_tuple()
    return f"Python {major}.{minor} torch {torch.__version__.partition('+')[0]}"


def exercises_of(root: Path, names: Iterable[str], only: str = "") -> list[Wanted]:
    """All exercises and steps of these lessons, from the last lesson, the slowest."""
    every = ((name, e) for name in reversed(list(names)) for e in load_lesson(root / "grader_tests" / name).all_tasks)
    return [(name, e) for name, e in every if only in ("", e)]


def _described(root: Path, name: str) -> bool:
    return (root / "grader_tests" / name).exists()


def _ledger(root: Path, name: str) -> Iterator[ProofResult]:
    """What is missing in the lesson's ledger of clauses; a warning if it has none (`clauses.py`)."""
    page = page_of(root, name)
    if page.is_file() and read_page(root, name) is None:
        print(f"{page.relative_to(root)} names no clauses: whether each is judged is not known", flush=True)
    for exercise, fault in open_clauses(root, name):
        problem = Problem(str(page.relative_to(root)), f"{exercise}: {fault}".removeprefix(": "), REMEDY)
        yield ProofResult(name, exercise, f"{name} {exercise}: ✗ {problem}", [problem])


def _missing(name: str) -> Problem:
    return Problem(f"grader_tests/{name}", "there is none", "Describe the lesson's exercises; see docs/authors.md.")


@lru_cache(maxsize=2)
def prover(root: Path, name: str) -> Prover:
    return Prover(root, name)


def prove_exercise(root: Path, lesson: str, name: str, mutate: bool, verbose: bool) -> ProofResult:
    """Prove one exercise. Any exception is our error."""
    own_prover = prover(root, lesson)
    proof = own_prover.prove(own_prover.lesson.all_tasks[name], mutate=mutate)
    text = "\n".join([f"{lesson} {proof}", *(_reports(proof) if verbose else ())])
    if not proof.exercise.points:  # no criteria to lose, so no verdict to record
        return ProofResult(lesson, name, text, proof.problems)
    return ProofResult(lesson, name, text, proof.problems, compact(proof))


def _failed(lesson: str, name: str, error: Exception) -> ProofResult:
    last = traceback.format_exception(error)[-2:]
    problem = Problem(
        f"grader_tests/{lesson}/{name}", "".join(last).strip(), "The proof itself failed: correct that first."
    )
    return ProofResult(lesson, name, f"{lesson} {name}: ✗ {problem}", [problem])


def _reports(proof: Proof) -> Iterator[str]:
    for answer, verdicts in proof.verdicts.items():
        if answer.startswith("mistake "):
            yield f"\n{answer.removeprefix('mistake ')}\n{to_report(verdicts[0]).to_text(everything=True)}"
