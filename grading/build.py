"""Builds the assignments from their texts, and exports what the learner's own `check` needs.

    source/NN_lesson.py        -> source/NN_lesson/NN_lesson.ipynb   (for nbgrader generate_assignment)
    grader_tests/NN_lesson/    -> course/examples/NN_lesson.examples (visible examples, outcomes of mistakes, hints)

Outside of a checkout the package has the examples of its own lessons, and those of another lie beside its notebook,
with which nbgrader releases them.

Same input, same bytes: cell ids come from the cells' places, nothing comes from the clock or the machine.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import jupytext
import nbformat
import torch
from nbformat import NotebookNode

from course import checking
from course.protocol.diagnosing import same_outcome
from course.protocol.packing import Node, PackingError, pack, unpack
from course.protocol.program import Observation
from course.protocol.running import observe

from .cells import check_of, grade_id
from .delivery import deliver, delivery, origin
from .judge.case import Case, in_words, program
from .judge.exercise import Exercise, Mistake
from .judge.lesson import load_lesson
from .judge.references import Prepared, judge_case, prepare_case
from .root import CourseError

KERNELSPEC = {"display_name": "Python 3", "language": "python", "name": "python3"}
EXAMPLE_SEED = 0
# Sums in another order, and functions by other instructions, differ in their last digits: examples are computed with
# what every x86-64 processor in use has (AVX2 at most), on one thread, whatever this one is and how many it has.
ON_ANY_MACHINE = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MKL_CBWR": "COMPATIBLE",  # matrix products
    "ATEN_CPU_CAPABILITY": "avx2",  # torch's own kernels; older ones lose a digit more where gradients cancel out
    "ONEDNN_MAX_CPU_ISA": "SSE41",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX2,-AVX,-FMA,-FMA4",  # exp, sin and the like
    "PYTHONHASHSEED": "0",
}
FOLDED = re.compile(r"# @title \S")  # this line stands for the cell until it is unfolded
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*$", re.M)


class BuildError(CourseError):
    """A lesson's text breaks a rule of docs/authors.md; the message names the file, the cell and the remedy."""


def read_lesson(path: Path) -> NotebookNode:
    """A lesson's text as a notebook with stable cell ids."""
    notebook: NotebookNode = jupytext.read(path, fmt="py:percent")
    notebook.metadata = NotebookNode(kernelspec=NotebookNode(KERNELSPEC))
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for cell, name in zip(notebook.cells, _ids(notebook), strict=True):
        cell["id"] = name
        cell.metadata.pop("lines_to_next_cell", None)  # jupytext's own bookkeeping
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
        if FOLDED.match(cell.source):
            cell.metadata |= {"jupyter": {"source_hidden": True}, "cellView": "form"}  # JupyterLab's word, and Colab's
    return notebook


def build_lesson(root: Path, name: str) -> bool:
    """Build one assignment; returns whether anything changed. Raises BuildError."""
    text = root / "source" / f"{name}.py"
    notebook = read_lesson(text)
    tests = root / "grader_tests" / name
    _hold_to_the_rules(notebook, text, list(load_lesson(tests).exercises.values()))
    deliver(notebook, f"{name}.ipynb", origin(delivery(root)))
    target = root / "source" / name / f"{name}.ipynb"
    changed = _write(target, (nbformat.writes(notebook, version=4) + "\n").encode())
    examples = _place_of_examples(root, name, notebook)
    if examples is None:
        return changed
    made = build_examples(tests)
    if examples.exists() and same_examples(made, examples.read_bytes()):
        return changed
    return _write(examples, made) or changed


def _place_of_examples(root: Path, name: str, notebook: NotebookNode) -> Path | None:
    """Where a learner's `check` finds them; None where the package that is installed has them, or nothing asks."""
    file = f"{name}{checking.ENDING}"
    if (root / "course").is_dir():
        return root / "course" / "examples" / file
    begins = any(cell.cell_type == "code" and f'begin("{name}")' in cell.source for cell in notebook.cells)
    return root / "source" / name / file if begins and not (checking.EXAMPLES / file).exists() else None


def same_examples(one: bytes, other: bytes) -> bool:
    """Whether two exports say the same. Numbers may differ by rounding: a processor that is no x86-64 adds in another
    order, and its build must not change what is committed. Gradients that cancel out lose four digits of float32."""

    def same(a: Any, b: Any) -> bool:
        if isinstance(a, torch.Tensor):
            room = 1e-6 if a.dtype == torch.float64 else 1e-4
            return (
                isinstance(b, torch.Tensor)
                and a.dtype == b.dtype
                and a.shape == b.shape
                and torch.allclose(a.double(), b.double(), rtol=10 * room, atol=room, equal_nan=True)
            )
        if isinstance(a, Node):
            return isinstance(b, Node) and a.kind == b.kind and same(vars(a), vars(b))
        if isinstance(a, dict):
            return isinstance(b, dict) and a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
        if isinstance(a, (list, tuple)):
            return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
        if isinstance(a, float) and isinstance(b, float):
            return a == b or (a != a and b != b) or abs(a - b) <= 1e-6 + 1e-5 * abs(a)
        return bool(a == b)

    try:
        return same(unpack(one), unpack(other))
    except PackingError:
        return False


def build_examples(tests: Path) -> bytes:
    """`export_examples` in a process of its own, whose numbers are the same on every x86-64 machine.

    Raises BuildError, with all that the process had to say.
    """
    with tempfile.TemporaryDirectory(prefix="grading-") as made:
        target = Path(made) / "examples"
        command = [sys.executable, "-m", __name__, str(tests.resolve()), str(target)]
        done = subprocess.run(command, env={**os.environ, **ON_ANY_MACHINE}, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise BuildError(f"{tests.name}: the examples could not be made\n{done.stderr.strip()}")
        return target.read_bytes()


def export_examples(tests: Path) -> bytes:
    """What `course.checking` reads: data only, no code of oracle, mistakes or alternatives.

    Its numbers are this machine's, to the last digit; see `build_examples`.
    """
    lesson = load_lesson(tests)
    return pack({"lesson": lesson.name, "exercises": {n: _exported(e) for n, e in lesson.exercises.items()}})


def _exported(exercise: Exercise) -> dict[str, Any]:
    prepared = [(name, prepare_case(exercise, case, 0, EXAMPLE_SEED)) for name, case in exercise.visible()]
    cases = []
    for name, p in prepared:
        if p.case.holds:
            raise BuildError(f"{exercise.name}: visible example {name!r} is judged by a function, which is not data")
        r = p.reference
        cases.append(
            {
                "name": name,
                "text": spelled_out(p.case),
                "program": p.program(exercise.forbidden).to_plain(),
                "exact": _outcome(r.exact),
                "native": _outcome(r.native),
                "wrong": r.wrong,
                "undefined": r.undefined,
                "tolerance": list(asdict(r.tolerance).values()) if r.tolerance else None,
                "pure": r.pure,
                "mutates": sorted(r.mutates),
                "form": r.form,
                "size": r.size,
            }
        )
    mistakes = [
        {"name": m.name, "text": m.text, "see": m.see, "each": _given(m, [p for _, p in prepared])}
        for m in exercise.mistakes
    ]
    return {
        "points": exercise.points,
        "hints": list(exercise.hints),
        "see": exercise.see,
        "cases": cases,
        "mistakes": mistakes,
    }


def _given(mistake: Mistake, prepared: list[Prepared]) -> list[dict[str, Any]]:
    """What a mistake gives on the visible cases, and which of them it misses; once where several values of its
    constant give the same."""
    found: list[list[Observation]] = []
    for answer in mistake.each:
        names = {answer.subject: answer.made()}
        given = [observe(p.program(()), names) for p in prepared]
        if not any(all(map(same_outcome, given, other)) for other in found):
            found.append(given)
    return [
        {
            "outcomes": list(map(_outcome, given)),
            "misses": [i for i, (p, one) in enumerate(zip(prepared, given, strict=True)) if judge_case(p, one)],
        }
        for given in found
    ]


def _outcome(seen: Observation) -> dict[str, Any]:
    """As data; an observed error holds the line of code that raised it, here a line of the oracle or of a mistake."""
    outcome = seen.to_plain()
    if outcome["raised"]:
        outcome["raised"] = {**outcome["raised"], "line": ""}
    return outcome


def spelled_out(case: Case) -> str:
    """A visible case as the call a learner could type, where its tensors are small."""

    def show(value: Any) -> str:
        if isinstance(value, torch.Tensor):
            return _typed(value) if value.numel() <= 24 else f"<{tuple(value.shape)}>"
        if isinstance(value, Node) and value.kind == "ref" and value.name in case.inputs:
            return show(case.inputs[value.name])
        if isinstance(value, Node) and value.kind == "specimen":
            return f"specimens.{value.name}({', '.join(f'{k}={show(v)}' for k, v in value.kwargs.items())})"
        return value.kind if isinstance(value, Node) else repr(value)

    plain = program(case)
    if case.text or len(plain.steps) > 1:
        return in_words(case)
    _, target, args, kwargs = plain.steps[0]
    listed = [show(a) for a in args] + [f"{k}={show(v)}" for k, v in kwargs.items()]
    return re.sub(r"(?<![\w.])(inf|nan)\b", r"torch.\1", f"{target.name}({', '.join(listed)})")


def _typed(tensor: torch.Tensor) -> str:
    """The expression that makes the tensor, with as many digits as its dtype holds."""
    numbers = tensor.tolist()
    dtype = "" if torch.tensor(numbers).dtype == tensor.dtype else f", dtype={tensor.dtype}"
    text = str(numbers)
    if tensor.dtype == torch.float32:
        text = re.sub(r"\d+\.\d{7,}(e-?\d+)?", lambda found: repr(float(f"{float(found[0]):.7g}")), text)
    return f"torch.tensor({text}{dtype})"


def _ids(notebook: NotebookNode) -> Iterator[str]:
    """A graded cell's id is its grade_id; any other's tells its heading and its place under it."""
    heading, place = "top", 0
    taken: set[str] = set()
    for cell in notebook.cells:
        found = HEADING.search(cell.source) if cell.cell_type == "markdown" else None
        if found:
            heading, place = re.sub(r"[^a-z0-9]+", "-", found.group(1).lower()).strip("-")[:40] or "section", 0
        name = re.sub(r"[^A-Za-z0-9_-]", "-", grade_id(cell)) or f"{heading}-{place}"
        place += 1
        if name in taken:
            name = f"{name[:50]}-{hashlib.sha256(f'{heading}{place}{len(taken)}'.encode()).hexdigest()[:8]}"
        taken.add(name)
        yield name[:64]


def _hold_to_the_rules(notebook: NotebookNode, text: Path, exercises: list[Exercise]) -> None:
    cells = {grade_id(c): c for c in notebook.cells if grade_id(c)}
    order = [g for g in cells if cells[g].metadata.nbgrader.get("solution")]
    if order != [e.name for e in exercises]:
        raise BuildError(f"{text.name}: solution cells {order} and exercises {[e.name for e in exercises]} differ")
    for exercise in exercises:
        check = cells.get(check_of(exercise.name))
        if check is None or not check.metadata.nbgrader.get("locked"):
            raise BuildError(f"{text.name}: {exercise.name} needs a locked grade cell {check_of(exercise.name)}")
        if check.metadata.nbgrader.get("points") != exercise.points:
            raise BuildError(
                f"{text.name}: {check_of(exercise.name)} has {check.metadata.nbgrader.get('points')} points, "
                f"grader_tests says {exercise.points}"
            )
    for cell in notebook.cells:
        if FOLDED.match(cell.source) and "demo" not in cell.metadata.get("tags", []):
            title = cell.source.splitlines()[0]
            raise BuildError(f"{text.name}: the cell {title!r} is folded, and is no demo: what is taught is seen")
    headings = {h for c in notebook.cells if c.cell_type == "markdown" for h in HEADING.findall(c.source)}
    for exercise in exercises:
        for see in {exercise.see, *(m.see for m in exercise.mistakes)} - {""}:
            if see not in headings:
                raise BuildError(f"{text.name}: {exercise.name} points to the heading {see!r}, which is not there")


def _write(path: Path, content: bytes) -> bool:
    if path.exists() and path.read_bytes() == content:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return True


if __name__ == "__main__":
    Path(sys.argv[2]).write_bytes(export_examples(Path(sys.argv[1])))
