"""Builds the assignments from their texts, and exports what the learner's own `check` needs.

    source/NN_lesson.py        -> source/NN_lesson/NN_lesson.ipynb   (for nbgrader generate_assignment)
    grader_tests/NN_lesson/    -> course/examples/NN_lesson.examples, NN_lesson/<exercise>.practice (check_data.py)

Outside of a checkout the package has the examples of its own lessons, and those of another lie beside its notebook,
with which nbgrader releases them.

Same input, same bytes: cell ids come from the cells' places, nothing comes from the clock or the machine.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Container, Iterable, Mapping
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from course.notebook import catalog

from ..course_dir.fingerprints import FingerprintFile, Packages, code_digest, packages, python_files
from ..errors import BuildError
from ..exercises.lesson import Lesson, load_lesson
from ..grader.cell_code import defines
from ..notebooks.cells import check_call, check_of, grade_id
from .check_data import export_lesson, same_examples
from .lesson_text import FOLDED, HEADING, read_lesson
from .questions import graded_questions, insert_questions, question_data, question_file
from .student_install import delivery, insert_setup_cell, origin

EXPORTER = "grading/authoring/check_data.py"
FINGERPRINTS = "fingerprints.json"  # beside the lessons in grader_tests, and committed with them
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


def build_lesson(root: Path, name: str, graded: Mapping[str, float] | None = None) -> bool:
    """Build one assignment; returns whether anything changed. Raises BuildError.

    graded  written questions that have points, and their points (default: the course's own)
    """
    graded = graded_questions(root, name) if graded is None else graded
    text = root / "source" / f"{name}.py"
    tests = root / "grader_tests" / name
    hold_to_the_rules(read_lesson(text), text, load_lesson(tests))
    changed = _write(root / "source" / name / f"{name}.ipynb", notebook_of(root, name, graded))
    folder = place_of_check_data(root, name)
    changed = export_questions(root, name, folder, graded) or changed
    return (folder is not None and export(tests, folder)) or changed


def notebook_of(root: Path, name: str, graded: Mapping[str, float] | None = None) -> bytes:
    """The file of an assignment as it is built now, with `graded` as in `build_lesson`. Raises BuildError."""
    notebook = read_lesson(root / "source" / f"{name}.py")
    graded = graded_questions(root, name) if graded is None else graded
    insert_questions(notebook, root / "grader_tests" / name, graded)
    insert_setup_cell(notebook, f"{name}.ipynb", origin(delivery(root)))
    text: str = nbformat.writes(notebook, version=4)
    return f"{text}\n".encode()


def export_questions(root: Path, name: str, folder: Path | None, graded: Mapping[str, float]) -> bool:
    """Write what learners compare their written answers with; returns whether a file changed. Raises ExerciseError.

    folder  where the lesson's check data is written, if it is
    """
    data = question_data(root / "grader_tests" / name, graded)
    path = question_file(root, name, folder, data)
    if path is not None and data:
        return _write(path, data)
    stale = path or root / "source" / name / f"{name}{catalog.QUESTIONS}"
    there = stale.is_file()
    stale.unlink(missing_ok=True)
    return there


def export(tests: Path, folder: Path, only: Container[str] | None = None) -> bool:
    """Write a lesson's check data into a folder where it is out of date; returns whether a file changed.

    only  names of exercises, and "" for the lesson's examples: all else stays as it is

    Raises BuildError.
    """
    stale = stale_exports(tests, folder)
    wanted = [name for name in stale if only is None or name in only]
    if not wanted:
        return False
    changed = False
    for file, made in build_examples(tests, filter(None, wanted)).items():
        path = folder / file
        if not (path.exists() and same_examples(made, path.read_bytes())):
            changed = _write(path, made) or changed
    current = export_fingerprints(tests, folder)
    fingerprint_file(tests.parent).add({_key(tests, name): current[name] for name in ("", *wanted)})
    return changed


def stale_exports(tests: Path, folder: Path, code: Packages | None = None) -> list[str]:
    """The exercises of a lesson whose practice is out of date; "" stands for the lesson's examples."""
    known, current = fingerprint_file(tests.parent).read(), export_fingerprints(tests, folder, code)
    return [name for name, made in current.items() if known.get(_key(tests, name)) != made]


def export_fingerprints(tests: Path, folder: Path, code: Packages | None = None) -> dict[str, str]:
    """For each exercise a hash of what its practice is made of, and of the file; for "" the same of the examples."""
    code, settings = code or packages(tests.parent), [f"{name}={value}" for name, value in ON_ANY_MACHINE.items()]
    names = load_lesson(tests).all_exercises

    def made_of(file: Path, *modules: Path) -> str:
        held = code_digest(file) if file.is_file() else ""
        return code.fingerprint(EXPORTER, *modules, about=[*settings, held])

    every = [module for name in names for module in python_files(tests / name)]
    practice = {n: made_of(folder / tests.name / f"{n}.practice", *python_files(tests / n)) for n in names}
    return {"": made_of(folder / f"{tests.name}{catalog.ENDING}", *every), **practice}


def fingerprint_file(grader_tests: Path) -> FingerprintFile:
    """What committed data was made of: a fresh clone need not make it again."""
    return FingerprintFile(grader_tests / FINGERPRINTS)


def _key(tests: Path, name: str) -> str:
    return f"check data of {tests.name}" + (f"/{name}" if name else "")


def place_of_check_data(root: Path, name: str) -> Path | None:
    """Where a learner's `check` finds it; None where the package that is installed has it, or nothing asks."""
    if (root / "course").is_dir():
        return root / "course" / "examples"
    text = (root / "source" / f"{name}.py").read_text(encoding="utf-8")
    begins = re.search(rf'^[^#\n]*\bbegin\("{name}"\)', text, re.MULTILINE)
    known = (catalog.EXAMPLES / f"{name}{catalog.ENDING}").exists()
    return root / "source" / name if begins and not known else None


def build_examples(tests: Path, only: Iterable[str] = ()) -> dict[str, bytes]:
    """`export_lesson` in a process of its own, whose numbers are the same on every x86-64 machine.

    only  exercises whose practice is made; all if none is named

    Raises BuildError, with all that the process had to say.
    """
    with tempfile.TemporaryDirectory(prefix="grading-") as made:
        command = [sys.executable, "-m", __name__, str(tests.resolve()), made, *only]
        done = subprocess.run(command, env={**os.environ, **ON_ANY_MACHINE}, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise BuildError(f"{tests.name}: the examples could not be made\n{done.stderr.strip()}")
        files = sorted(path for path in Path(made).rglob("*") if path.is_file())
        return {path.relative_to(made).as_posix(): path.read_bytes() for path in files}


def hold_to_the_rules(notebook: NotebookNode, text: Path, lesson: Lesson) -> None:
    """See that a lesson's text and its exercises agree. Raises BuildError."""
    exercises = list(lesson.exercises.values())
    cells = {grade_id(c): c for c in notebook.cells if grade_id(c)}
    marks = {g: cell.metadata.nbgrader for g, cell in cells.items()}
    order = [g for g in cells if marks[g].get("solution") and not marks[g].get("grade")]  # a person grades the others
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
    for file, content in export_lesson(Path(sys.argv[1]), sys.argv[3:] or None).items():
        _write(Path(sys.argv[2]) / file, content)
