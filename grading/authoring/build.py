"""Builds the assignments from their texts, and exports what the learner's own `check` needs.

    source/NN_lesson.py        -> source/NN_lesson/NN_lesson.ipynb   (for nbgrader generate_assignment)
    grader_tests/NN_lesson/    -> course/examples/NN_lesson.examples, NN_lesson/<exercise>.practice   (see `export.py`)

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
from pathlib import Path

import jupytext
import nbformat
from nbformat import NotebookNode

import course
import grading
from course.notebook import checking

from ..course_dir.fingerprints import Ledger, digest, sources
from ..course_dir.paths import CourseError
from ..exercises.lesson import Lesson, load_lesson
from ..grader.cell_code import defines
from ..notebooks.cells import check_call, check_of, grade_id
from .check_data import export_lesson, same_examples
from .student_install import deliver, delivery, origin

EXPORTED = "exported.json"  # beside the graders, and committed with them: a fresh clone need not make them anew
ENGINE, PACKAGE = Path(grading.__file__).parent, Path(course.__file__).parent
EXPORTERS = (
    *(PACKAGE / part for part in ("check_data.py", "sample_models", "checkers", "harness")),
    *(
        ENGINE / part
        for part in ("authoring/check_data.py", "authoring/build.py", "course_dir/paths.py", "exercises", "grader")
    ),
)
KERNELSPEC = {"display_name": "Python 3", "language": "python", "name": "python3"}
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
    hold_to_the_rules(notebook, text, load_lesson(tests))
    deliver(notebook, f"{name}.ipynb", origin(delivery(root)))
    target = root / "source" / name / f"{name}.ipynb"
    changed = _write(target, (nbformat.writes(notebook, version=4) + "\n").encode())
    folder = _place_of_examples(root, name, notebook)
    return (folder is not None and export(tests, folder)) or changed


def export(tests: Path, folder: Path) -> bool:
    """Write a lesson's examples and practice into a folder, unless they are there and are made of what there is now;
    returns whether anything changed. Raises BuildError."""
    ledger, changed = Ledger(tests.parent / EXPORTED), False
    if ledger.read().get(tests.name) == exported(tests, folder):
        return False
    for file, made in build_examples(tests).items():
        path = folder / file
        if not (path.exists() and same_examples(made, path.read_bytes())):
            changed = _write(path, made) or changed
    ledger.add({tests.name: exported(tests, folder)})
    return changed


def exported(tests: Path, folder: Path) -> str:
    """A digest of what a lesson's examples and practice are made of, and of the files themselves."""
    made = [folder / f"{tests.name}{checking.ENDING}", *sorted((folder / tests.name).glob("*.practice"))]
    makers = sources(*EXPORTERS, tests, tests.parent / "shared")
    return digest([*makers, *(path for path in made if path.exists())])


def _place_of_examples(root: Path, name: str, notebook: NotebookNode) -> Path | None:
    """Where a learner's `check` finds them; None where the package that is installed has them, or nothing asks."""
    if (root / "course").is_dir():
        return root / "course" / "examples"
    begins = any(cell.cell_type == "code" and f'begin("{name}")' in cell.source for cell in notebook.cells)
    known = (checking.EXAMPLES / f"{name}{checking.ENDING}").exists()
    return root / "source" / name if begins and not known else None


def build_examples(tests: Path) -> dict[str, bytes]:
    """`export_lesson` in a process of its own, whose numbers are the same on every x86-64 machine.

    Raises BuildError, with all that the process had to say.
    """
    with tempfile.TemporaryDirectory(prefix="grading-") as made:
        command = [sys.executable, "-m", __name__, str(tests.resolve()), made]
        done = subprocess.run(command, env={**os.environ, **ON_ANY_MACHINE}, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise BuildError(f"{tests.name}: the examples could not be made\n{done.stderr.strip()}")
        files = sorted(path for path in Path(made).rglob("*") if path.is_file())
        return {path.relative_to(made).as_posix(): path.read_bytes() for path in files}


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


def hold_to_the_rules(notebook: NotebookNode, text: Path, lesson: Lesson) -> None:
    """See that a lesson's text and its exercises agree. Raises BuildError."""
    exercises = list(lesson.exercises.values())
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
    _hold_challenges_to_the_rules(notebook, text, lesson)
    for exercise in lesson.all_exercises.values():
        for see in {exercise.see, *(m.see for m in exercise.mistakes)} - {""}:
            if see not in headings:
                raise BuildError(f"{text.name}: {exercise.name} points to the heading {see!r}, which is not there")


def _hold_challenges_to_the_rules(notebook: NotebookNode, text: Path, lesson: Lesson) -> None:
    """Below all that is graded, so that nothing of theirs runs before a grade is made; without marks of nbgrader's."""
    graded = [place for place, cell in enumerate(notebook.cells) if grade_id(cell)]
    below = [cell for cell in notebook.cells[max(graded, default=-1) + 1 :] if cell.cell_type == "code"]
    for name in lesson.challenges:
        if not any(defines(cell.source, name) for cell in below):
            raise BuildError(f"{text.name}: the challenge {name} needs a cell that defines it, below all graded cells")
        checks = [cell for cell in below if cell.source.startswith(check_call(name))]
        if not any("demo" in cell.metadata.get("tags", []) for cell in checks):
            raise BuildError(f"{text.name}: the challenge {name} needs a cell `{check_call(name)}`, tagged demo")


def _write(path: Path, content: bytes) -> bool:
    if path.exists() and path.read_bytes() == content:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return True


if __name__ == "__main__":
    for file, content in export_lesson(Path(sys.argv[1])).items():
        _write(Path(sys.argv[2]) / file, content)
