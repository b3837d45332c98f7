"""Write check data to files where they are out of date.

The files have the same bytes on every x86-64 machine.

Does not cover: their contents (`check_data.py`), which of them a notebook needs beside it (`beside_notebook.py`).
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Container, Iterable
from pathlib import Path

from course.notebook import catalog

from ..course_dir.fingerprints import Packages, code_digest, fingerprint_file, packages, python_files
from ..course_dir.lesson_marks import exercise_points
from ..errors import BuildError
from ..exercises.lesson import load_lesson
from .check_data import export_lesson, same_examples

EXPORTER = "grading/authoring/check_data.py"
# If sums run in another order, or functions use other instructions, their last digits differ. So examples are computed
# on one thread, with instructions that every x86-64 processor in use has (AVX2 at most).
ON_ANY_MACHINE = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MKL_CBWR": "COMPATIBLE",  # matrix products
    "ATEN_CPU_CAPABILITY": "avx2",  # torch's kernels; older instructions lose one more digit if gradients cancel out
    "ONEDNN_MAX_CPU_ISA": "SSE41",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX2,-AVX,-FMA,-FMA4",  # exp, sin and similar functions
    "PYTHONHASHSEED": "0",
}


def export(tests: Path, folder: Path, only: Container[str] | None = None) -> bool:
    """Write a lesson's check data into a folder where it is out of date, and remove those of exercises that are gone.

    `only`: names of exercises, and "" for the lesson's examples; all others stay as they are.

    Returns whether a file changed. Raises BuildError.
    """
    names, changed = load_lesson(tests).all_tasks, False
    for path in (folder / tests.name).glob("*.practice"):
        if path.stem not in names:
            path.unlink()
            changed = True
    stale = stale_exports(tests, folder)
    wanted = [name for name in stale if only is None or name in only]
    if not wanted:
        return changed
    for file, made in build_examples(tests, filter(None, wanted)).items():
        path = folder / file
        if not (path.exists() and same_examples(made, path.read_bytes())):
            changed = write(path, made) or changed
    current = export_fingerprints(tests, folder)
    fingerprint_file(tests.parents[1]).add({key_of(tests, name): current[name] for name in ("", *wanted)})
    return changed


def stale_exports(tests: Path, folder: Path, code: Packages | None = None) -> list[str]:
    """The exercises of a lesson whose practice is out of date.

    "" means the lesson's examples.
    """
    known, current = fingerprint_file(tests.parents[1]).read(), export_fingerprints(tests, folder, code)
    return [name for name, made in current.items() if known.get(key_of(tests, name)) != made]


def export_fingerprints(tests: Path, folder: Path, code: Packages | None = None) -> dict[str, str]:
    """For each exercise, a hash of the practice file and its inputs.

    "" means the lesson's examples.
    """
    code, settings = code or packages(tests.parent), [f"{name}={value}" for name, value in ON_ANY_MACHINE.items()]
    names = load_lesson(tests).all_tasks

    def fingerprint_of(file: Path, *modules: Path, about: Iterable[str] = ()) -> str:
        held = code_digest(file) if file.is_file() else ""
        return code.fingerprint(EXPORTER, *modules, about=[*settings, held, *about])

    every = [module for name in names for module in python_files(tests / name)]
    practice = {n: fingerprint_of(folder / tests.name / f"{n}.practice", *python_files(tests / n)) for n in names}
    points = [f"{name}={value}" for name, value in exercise_points(tests.parents[1], tests.name).items()]
    return {"": fingerprint_of(folder / f"{tests.name}{catalog.ENDING}", *every, about=points), **practice}


def key_of(tests: Path, name: str) -> str:
    return f"check data of {tests.name}" + (f"/{name}" if name else "")


def place_of_check_data(root: Path, name: str) -> Path | None:
    """Where `grading sync` writes a lesson's check data.

    None if the installed package has them.
    """
    if (root / "course").is_dir():
        return root / "course" / "examples"
    known = (catalog.EXAMPLES / f"{name}{catalog.ENDING}").exists()
    return root / "source" / name if begins_lesson(root, name) and not known else None


def begins_lesson(root: Path, name: str) -> bool:
    """Whether a lesson's notebook calls `begin`, so that its `check` needs check data."""
    text = (root / "source" / f"{name}.py").read_text(encoding="utf-8")
    return re.search(rf'^[^#\n]*\bbegin\("{name}"[,)]', text, re.MULTILINE) is not None


def build_examples(tests: Path, only: Iterable[str] = ()) -> dict[str, bytes]:
    """Run `export_lesson` in a process of its own.

    Its numbers are the same on every x86-64 machine.

    `only`: the exercises whose practice to make; all if none is named.

    Raises BuildError with the process's error output.
    """
    with tempfile.TemporaryDirectory(prefix="grading-") as made:
        command = [sys.executable, "-m", __name__, str(tests.resolve()), made, *only]
        done = subprocess.run(command, env={**os.environ, **ON_ANY_MACHINE}, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise BuildError(f"{tests.name}: the examples could not be made\n{done.stderr.strip()}")
        files = sorted(path for path in Path(made).rglob("*") if path.is_file())
        return {path.relative_to(made).as_posix(): path.read_bytes() for path in files}


def write(path: Path, content: bytes) -> bool:
    if path.exists() and path.read_bytes() == content:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return True


if __name__ == "__main__":
    for file, content in export_lesson(Path(sys.argv[1]), sys.argv[3:] or None).items():
        write(Path(sys.argv[2]) / file, content)
