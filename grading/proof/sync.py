"""`grading sync`: update everything derived from `source/` and `grader_tests/`.

    check data           course/examples, or beside the notebook of a course's own lesson
    recorded verdicts    tests/verdicts, in a course that has the folder
    proofs               in a checkout of the engine, which ships them
    tables of authors    docs/exercise-reference.md, in a checkout
    page of mistakes     build/reports/mistakes.md

Whether something is out of date is decided by fingerprints (`course_dir.fingerprints`), without running anything. They
are in grader_tests/fingerprints.json, which is committed and shipped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from grading.safe_text import plural

from ..authoring.check_data_files import export, place_of_check_data, stale_exports
from ..course_dir.fingerprints import digest, fingerprint_file, packages
from ..course_dir.lessons import list_lessons
from ..errors import CourseError
from ..exercises.lesson import load_lesson
from . import author_tables, mistakes_page, verdict_records
from .runner import PROOF, ProofResult, Wanted, fingerprints, proof_of, prove

CHECK_DATA, VERDICTS, PROOFS = "check data", "recorded verdicts", "shipped proof"


@dataclass
class Plan:
    """Everything that is out of date, and the data to decide that.

    exercises   lesson -> its chosen exercises
    folders     lesson -> the folder of its check data, if it has any
    proofs      lesson/exercise -> fingerprint of its proof today
    check_data  lesson -> the exercises whose check data is out of date; "" for the lesson's examples
    verdicts    exercises whose recorded verdicts are out of date
    unproved    exercises whose proof is out of date, or was made with other versions only
    """

    exercises: dict[str, list[str]]
    folders: dict[str, Path] = field(default_factory=dict)
    proofs: dict[str, str] = field(default_factory=dict)
    check_data: dict[str, list[str]] = field(default_factory=dict)
    verdicts: list[Wanted] = field(default_factory=list)
    unproved: list[Wanted] = field(default_factory=list)


def sync(
    root: Path,
    exercises: Iterable[str] = (),
    *,
    check: bool = False,
    report: Callable[[str, list[str]], object] = lambda name, stale: None,
) -> int:
    """Update everything out of date; return the exit status, 1 if a proof fails.

    exercises  lessons ("02_softmax") and exercises ("softmax" or "02_softmax/softmax"); all if none is named
    check      write nothing, but list what is out of date and committed; the exit status is 1 if anything is
    report     called with each exercise or page that is out of date, and its outdated parts

    Raises CourseError.
    """
    plan = _plan(root, chosen_exercises(root, exercises), check)
    stale = _stale(plan)
    for name, kinds in stale.items():
        report(name, kinds)
    if check:
        listed = [
            f"{name}: out of date: {', '.join(kinds)}. Run `grading sync {name}`." for name, kinds in stale.items()
        ]
        listed += author_tables.stale(root)
        print("\n".join(listed) or "up to date")
        return min(1, len(listed))
    console = Console()
    with _progress(console) as progress:
        _make_check_data(plan, root, progress)
        found = _prove(plan, root, progress)
        _drop_outdated(plan, root)
    mistakes_page.write(root)
    author_tables.write(root)
    for one in found:
        if one.problems:
            console.print(one.text, markup=False, highlight=False, soft_wrap=True)
    problems = sum(len(one.problems) for one in found)
    console.print(plural(problems, "problem") if problems else "up to date")
    return min(1, problems)


def chosen_exercises(root: Path, named: Iterable[str]) -> dict[str, list[str]]:
    """Lesson -> its exercises among `named`, or all if none is named. Raises CourseError."""
    described = [name for name in list_lessons(root) if (root / "grader_tests" / name).is_dir()]
    every = {name: list(load_lesson(root / "grader_tests" / name).all_tasks) for name in described}
    wanted = list(named)
    forms = {(lesson, e): {lesson, e, f"{lesson}/{e}"} for lesson in every for e in every[lesson]}
    if unknown := [name for name in wanted if not any(name in form for form in forms.values())]:
        raise CourseError(f"no lesson or exercise called {', '.join(unknown)}")
    if not wanted:
        return every
    chosen = [one for one, form in forms.items() if form & set(wanted)]
    return {lesson: [e for name, e in chosen if name == lesson] for lesson in dict.fromkeys(name for name, _ in chosen)}


def _plan(root: Path, exercises: dict[str, list[str]], check: bool) -> Plan:
    tests, plan = root / "grader_tests", Plan(exercises)
    code, known = packages(tests), fingerprint_file(root).read()
    for lesson, names in exercises.items():
        folder = place_of_check_data(root, lesson)
        if folder is not None:
            plan.folders[lesson] = folder
            stale = stale_exports(tests / lesson, folder, code)
            ours = [name for name in stale if name in names]
            if ours or stale == [""]:
                plan.check_data[lesson] = ["", *ours]
        if not (_records_verdicts(root) or _ships_proofs(root)):
            continue
        made_of = fingerprints(root, lesson, code)
        records = verdict_records.read_records(root, lesson)
        graded = load_lesson(tests / lesson).all_exercises
        for name in names:
            key = f"{lesson}/{name}"
            plan.proofs[key] = made_of[name]
            # What is committed is up to date if it was proved with any versions
            proofs = _proofs(known, key) if check else {proof_of(key): known.get(proof_of(key), "")}
            if _ships_proofs(root) and made_of[name] not in proofs.values():
                plan.unproved.append((lesson, name))
            if name not in graded:  # a step without points has no verdicts
                continue
            recorded = _verdicts(made_of[name], records.get(name))
            if _records_verdicts(root) and known.get(f"verdicts of {key}") != recorded:
                plan.verdicts.append((lesson, name))
    return plan


def _stale(plan: Plan) -> dict[str, list[str]]:
    """Outdated files that are committed, by exercise."""
    kinds: dict[str, list[str]] = {}
    for lesson, names in plan.check_data.items():
        for name in [name for name in names if name] or [""]:  # the examples are out of date with any exercise
            kinds.setdefault(f"{lesson}/{name}".rstrip("/"), []).append(CHECK_DATA)
    for kind, stale in ((VERDICTS, plan.verdicts), (PROOFS, plan.unproved)):
        for one in stale:
            kinds.setdefault("/".join(one), []).append(kind)
    return dict(sorted(kinds.items()))


def _make_check_data(plan: Plan, root: Path, progress: Progress) -> None:
    row = progress.add_task("check data", total=len(plan.check_data))

    def make(lesson: str) -> None:  # in a process of its own
        export(root / "grader_tests" / lesson, plan.folders[lesson], plan.check_data[lesson])
        progress.advance(row)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(make, reversed(plan.check_data)))  # the last lessons take longest


def _prove(plan: Plan, root: Path, progress: Progress) -> list[ProofResult]:
    """Prove exercises that lack a proof or verdicts, and record the results."""
    needed = {*plan.verdicts, *plan.unproved}
    last_first = sorted(needed, reverse=True)  # the last lessons take longest
    row, found = progress.add_task("exercises proved", total=len(needed)), []
    for one in prove(root, last_first):
        found.append(one)
        if _records_verdicts(root) and one.verdicts and not one.problems:
            verdict_records.record(root, one.lesson, {one.exercise: one.verdicts})
            made = _verdicts(plan.proofs[one.key], one.verdicts)
            fingerprint_file(root).add({f"verdicts of {one.key}": made})
        progress.advance(row)
    return found


def _drop_outdated(plan: Plan, root: Path) -> None:
    """Drop fingerprints of exercises that are gone, and of proofs that no longer hold, made with whatever versions."""
    file = fingerprint_file(root)
    known, tests = file.read(), root / "grader_tests"
    gone = [name for name in known if not (tests / name.partition(" of ")[2].partition(" with ")[0]).is_dir()]
    outdated = [n for key, made in plan.proofs.items() for n, was in _proofs(known, key).items() if was != made]
    file.add({}, drop=[*gone, *outdated])


def _proofs(known: Mapping[str, str], key: str) -> dict[str, str]:
    """The fingerprints of an exercise's proofs with all versions."""
    return {name: made for name, made in known.items() if name.startswith(PROOF.format(key))}


def _verdicts(proof: str, recorded: verdict_records.Verdicts | None) -> str:
    """The sources of recorded verdicts, and the verdicts."""
    return digest([proof, json.dumps(recorded)])


def _records_verdicts(root: Path) -> bool:
    return (root / verdict_records.FOLDER).is_dir()


def _ships_proofs(root: Path) -> bool:
    return (root / "grading" / "proof").is_dir()


def _progress(console: Console) -> Progress:
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    return Progress(*columns, console=console)
