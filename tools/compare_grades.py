"""Record the grades of everything in this repository that has a known grade, and compare two records.

    python -m tools.compare_grades record before.json [LESSON ...]     all lessons if none is named
    python -m tools.compare_grades compare before.json after.json

A refactoring may change no grade: record before it and after each step. A record has every known answer of
`tests/verdicts`, every submission of `tests/submissions`, and the class of `grading demo`, with one fixed seed and in
courses of their own. Most of it is read with nbgrader from a gradebook and graded notebooks, so that this file survives
a refactoring; to record an older commit, copy it there. Run it from the repository's root.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.api import Gradebook
from rich.progress import track

from grading.proof.parallel import side_by_side
from grading.proof.prover import Prover
from tests.support.canaries import Canaries
from tests.support.corpus import Submission, cases
from tests.support.course_builder import build_course

ROOT = Path(__file__).parents[1]
SEED = "5eed" * 8
LIMITS = """
c.ExecutePreprocessor.timeout = 4
c.JudgedExecute.limits = {"memory": 1536 * 2**20, "disk": 64 * 2**20, "processes": 64}
"""  # as in the tests of the submissions
VERDICT = "application/vnd.attention-course.verdict+json"
COPIED = ("status", "mistake", "certain", "second_mistake", "explanation", "advice", "not_allowed", "followed_through")
Grades = dict[str, dict[str, Any]]
"""Name of an answer -> everything that is recorded about its grade."""


def record_known_answers(root: Path, lesson: str, exercise: str) -> Grades:
    """The grade of every known answer to one exercise, as in its proof."""
    prover = Prover(root, lesson, seeds=(0,))
    proof = prover.prove(prover.lesson.all_exercises[exercise], mutate=False, replay=False)
    return {f"{lesson} {exercise}: {name}": _told(v[0].to_json()) for name, v in proof.verdicts.items()}


def record_submissions(lesson: str, submissions: Sequence[Submission]) -> Grades:
    """The grades of these submissions of `tests/submissions` to one lesson, beside the canaries that some look for."""
    with tempfile.TemporaryDirectory() as folder, Canaries() as canaries:
        root = build_course(Path(folder, "course"), [lesson], config=LIMITS, seed=SEED, release=True)
        for submission in submissions:
            submission.hand_in(root, canaries)
        exit_status = _run(root, "grade", lesson, "--workers", "1")
        return {f"submissions, {name}": grade for name, grade in _gradebook(root, lesson, exit_status)}


def record_demo(lesson: str) -> Grades:
    """The grades of the class of `grading demo`."""
    with tempfile.TemporaryDirectory() as folder:
        root = build_course(Path(folder, "course"), [lesson], seed=SEED)
        exit_status = _run(root, "demo", lesson)
        return {f"demo, {name}": grade for name, grade in _gradebook(root, lesson, exit_status)}


def compare(before: Grades, after: Grades) -> int:
    """Print every difference between two records; return the exit status, 1 if there is one."""
    changed = [name for name in sorted({*before, *after}) if before.get(name) != after.get(name)]
    for name in changed:
        old, new = before.get(name, {}), after.get(name, {})
        for key in sorted(key for key in {*old, *new} if old.get(key) != new.get(key)):
            print(f"{name}: {key}: {old.get(key)!r} → {new.get(key)!r}")
    print(f"{len(changed)} of {len({*before, *after})} grades differ" if changed else f"{len(before)} grades are equal")
    return int(bool(changed))


def record(lessons: Sequence[str]) -> Grades:
    """All grades of these lessons. Raises what a part raised."""
    parts: list[tuple[Any, ...]] = []
    for lesson in lessons:
        exercises = json.loads((ROOT / "tests" / "verdicts" / f"{lesson}.json").read_text(encoding="utf-8"))
        parts += [(record_known_answers, ROOT, lesson, exercise) for exercise in exercises]
        parts.append((record_demo, lesson))
        of_lesson = [submission for submission in cases() if submission.lesson == lesson]
        for kind in sorted({submission.kind for submission in of_lesson}):
            parts.append((record_submissions, lesson, [one for one in of_lesson if one.kind == kind]))
    found: Grades = {}
    for part, grades in track(side_by_side(_call, parts), "recording", total=len(parts)):
        if isinstance(grades, Exception):
            raise RuntimeError(f"{part[0].__name__}{part[1:]}") from grades
        found |= grades
    return found


def _call(part: Any, *arguments: Any) -> Grades:
    grades: Grades = part(*arguments)
    return grades


def _run(root: Path, *arguments: str) -> int:
    command = [sys.executable, "-P", "-m", "grading", *arguments]
    return subprocess.run(
        command, cwd=root, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True
    ).returncode


def _gradebook(root: Path, lesson: str, exit_status: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Everything handed in, by student and cell; a submission without a grade has no cells."""
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:
        graded = {one.student_id: one.notebooks[0] for one in gradebook.assignment_submissions(lesson)}
        for student in sorted(path.name for path in (root / "submitted").iterdir()):
            yield f"{lesson} {student}", {"graded": student in graded, "exit status of all": exit_status}
            verdicts = _verdicts(root / "autograded" / student / lesson / f"{lesson}.ipynb")
            for grade in graded[student].grades if student in graded else ():
                told = _told(verdicts[grade.name]) if grade.name in verdicts else {}
                points = {"points": grade.score, "maximum": grade.max_score, "person": grade.needs_manual_grade}
                late = {"late penalty": graded[student].late_submission_penalty}
                yield f"{lesson} {student} {grade.name}", told | points | late


def _verdicts(graded: Path) -> dict[str, dict[str, Any]]:
    """Grade cell -> the verdict in its output."""
    cells = nbformat.read(graded, as_version=4).cells if graded.exists() else []
    return {
        cell.metadata.nbgrader.grade_id: output.data[VERDICT]
        for cell in cells
        if cell.metadata.get("nbgrader", {}).get("grade") and cell.cell_type == "code"
        for output in cell.outputs
        if VERDICT in output.get("data", {})
    }


def _told(verdict: dict[str, Any]) -> dict[str, Any]:
    """What a verdict says, without its examples; points of each criterion by name."""
    criteria = {f"points for {criterion['name']}": criterion["earned"] for criterion in verdict["criteria"]}
    return {"points": verdict["earned"], "maximum": verdict["points"]} | criteria | {k: verdict[k] for k in COPIED}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    recording = verbs.add_parser("record")
    recording.add_argument("file", type=Path)
    recording.add_argument("lessons", nargs="*", metavar="LESSON")
    comparing = verbs.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    options = parser.parse_args(arguments)
    if options.verb == "compare":
        return compare(*(json.loads(file.read_text(encoding="utf-8")) for file in (options.before, options.after)))
    lessons = options.lessons or sorted(path.stem for path in (ROOT / "tests" / "verdicts").glob("*.json"))
    text = json.dumps(record(lessons), indent=1, sort_keys=True, ensure_ascii=False)
    options.file.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
