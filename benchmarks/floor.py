"""The least that grading can cost: the student's cells and the grader's calls.

    python -m benchmarks.floor COURSE LESSON

Runs all submissions in this process, one after the other: the cells that our kernel would run, and one call for every
hidden case, without kernel, sandbox, messages, comparison or gradebook. Libraries are imported and cases drawn before.
Prints the CPU and wall seconds of each submission after the first, as JSON. Nothing is confined: use it only for our
own answers.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import time
from pathlib import Path
from typing import Any

import torch

from course.cell_kinds import is_left_out
from course.harness.runner import observe
from course.notebook.session import current
from grading.exercises.lesson import load_lesson
from grading.grader.references import prepare
from grading.notebooks.cells import CHECK, exercise_of, grade_id


def costs(root: Path, lesson: str, students: str = "*") -> list[tuple[float, float]]:
    """(CPU, wall) seconds of each submission after the first.

    students  pattern for the names of the students
    """
    exercises = load_lesson(root / "grader_tests" / lesson).exercises
    programs = {name: [p.program(e.forbidden) for p in prepare(e, 0)] for name, e in exercises.items()}
    left_out = _left_out(root / "source" / lesson / f"{lesson}.ipynb")
    found = [
        _cost(file, programs, left_out) for file in sorted(root.glob(f"submitted/{students}/{lesson}/{lesson}.ipynb"))
    ]
    return found[1:]


def _cost(file: Path, programs: dict[str, list[Any]], left_out: set[str]) -> tuple[float, float]:
    cells = [cell for cell in json.loads(file.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    names: dict[str, Any] = {"__name__": "__main__"}
    begun, at = time.process_time(), time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):
        for cell in cells:
            source = "".join(cell["source"])
            if grade_id(cell).startswith(CHECK):
                for program in programs[exercise_of(cell)]:
                    observe(program, names)
            elif source.strip() not in left_out:
                answer = cell["metadata"].get("nbgrader", {}).get("solution")
                with contextlib.nullcontext() if answer else current().stand_ins.given():
                    exec(compile(source, "cell", "exec"), names)  # noqa: S102 - answers of our own
    return time.process_time() - begun, time.perf_counter() - at


def _left_out(lesson: Path) -> set[str]:
    cells = json.loads(lesson.read_text(encoding="utf-8"))["cells"]
    return {"".join(cell["source"]).strip() for cell in cells if is_left_out(cell["metadata"], "".join(cell["source"]))}


if __name__ == "__main__":
    torch.set_num_threads(1)
    print(json.dumps(costs(Path(sys.argv[1]), sys.argv[2])))
