"""Recorded verdicts on every known answer, which show unintended changes of grades.

tests/verdicts/NN_lesson.json contains, for each exercise and answer, one verdict for all seeds or one per seed, in the
format of `Proof.short_verdicts`. `grading sync` records them, in a course that has the folder.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from ..exercises.lesson import load_lesson
from .prover import SEEDS, Proof

FOLDER = Path("tests") / "verdicts"
Verdicts = dict[str, list[str]]
"""Answer -> its verdicts."""


def compact(proof: Proof) -> Verdicts:
    """The verdicts of a proof as recorded: only one if all seeds agree."""
    found = {answer: v if len(set(v)) > 1 else v[:1] for answer, v in proof.short_verdicts().items()}
    return {answer: v for answer, v in found.items() if not answer.startswith("base ")}


def read_records(root: Path, lesson: str) -> dict[str, Verdicts]:
    """Exercise -> its recorded verdicts; none if the lesson has no record."""
    path = root / FOLDER / f"{lesson}.json"
    known: dict[str, Verdicts] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return known


def recorded(root: Path, lesson: str, seed: int) -> dict[str, Verdicts]:
    """Exercise -> answer -> its recorded verdict with this seed, in a list."""
    at = SEEDS.index(seed)
    return {
        name: {answer: v[at : at + 1] or v for answer, v in answers.items()}
        for name, answers in read_records(root, lesson).items()
    }


def record(root: Path, lesson: str, new: Mapping[str, Verdicts]) -> None:
    """Record the verdicts of these exercises, and keep those of the lesson's others."""
    known = {**read_records(root, lesson), **new}
    order = [name for name in load_lesson(root / "grader_tests" / lesson).all_exercises if name in known]
    blocks = [
        f" {json.dumps(name)}: {{\n"
        + ",\n".join(
            f"  {json.dumps(answer)}: {json.dumps(v, ensure_ascii=False)}" for answer, v in known[name].items()
        )
        + "\n }"
        for name in order
    ]
    text = "{\n" + ",\n".join(blocks) + "\n}\n"
    (root / FOLDER / f"{lesson}.json").write_text(text, encoding="utf-8")
