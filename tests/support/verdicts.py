"""What the judge says of every answer that grader_tests knows, recorded: a change of form must change no verdict.

    python -m tests.support.verdicts NN_lesson ...    record them anew, after a change that is meant to change some

tests/verdicts/NN_lesson.json holds, for each exercise and answer, one verdict for all seeds or one for each, as
`Proof.in_short` writes them. The first record was made before an exercise had a room of its own.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from grading.proof.prover import SEEDS, Proof, Prover

from ..conftest import LESSONS, ROOT

RECORDS = Path(__file__).parents[1] / "verdicts"


def recorded(lesson: str, seed: int) -> dict[str, dict[str, list[str]]]:
    """exercise -> answer -> its verdict with this seed, in a list."""
    known = json.loads((RECORDS / f"{lesson}.json").read_text(encoding="utf-8"))
    at = SEEDS.index(seed)
    return {name: {answer: v[at : at + 1] or v for answer, v in answers.items()} for name, answers in known.items()}


def compact(proof: Proof) -> dict[str, list[str]]:
    """The verdicts of a proof as they are recorded: one, where all seeds agree."""
    found = {answer: v if len(set(v)) > 1 else v[:1] for answer, v in proof.in_short().items()}
    return {answer: v for answer, v in found.items() if not answer.startswith("base ")}


def record(lesson: str) -> None:
    prover = Prover(ROOT, lesson)
    proofs = [prover.prove(exercise, mutate=False) for exercise in prover.lesson.all_exercises.values()]
    lines = [
        f" {json.dumps(p.exercise.name)}: {{\n"
        + ",\n".join(f"  {json.dumps(answer)}: {json.dumps(v, ensure_ascii=False)}" for answer, v in compact(p).items())
        + "\n }"
        for p in proofs
    ]
    RECORDS.mkdir(exist_ok=True)
    (RECORDS / f"{lesson}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:] or LESSONS:
        record(name)
        print(f"{name}: recorded", flush=True)
