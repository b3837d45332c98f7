"""The released notebooks, run once from top to bottom as a page shows them: untouched, sliders without a kernel.

Results of runs are kept by content, as grades are: a lesson is run again where it or `course` has changed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import nbformat
from nbformat import NotebookNode

import course
from course.models.write_file import write_file
from course.report import STATIC_PAGE_ENV
from grading.errors import CourseError

# Each in a process of its own, as nbconvert does it; a cell has ten minutes, and so has the start of a kernel
RUN = [
    "-m",
    "nbconvert",
    "--execute",
    "--inplace",
    "--allow-errors",
    "--log-level=ERROR",
    "--ExecutePreprocessor.timeout=600",
    "--ExecutePreprocessor.startup_timeout=600",
]


def executed(
    root: Path, names: list[str], kept: Path, *, workers: int, done: Callable[[str], object]
) -> dict[str, NotebookNode]:
    """By lesson, the released notebook with its outputs. `done` gets each when it is ready.

    Raises CourseError where a lesson is not released, or does not run.
    """
    kept.mkdir(parents=True, exist_ok=True)
    places = {name: kept / f"{name}-{digest}.ipynb" for name, digest in _digests(root, names)}
    with ThreadPoolExecutor(workers) as executor:
        running = {executor.submit(_run, root, name, place): name for name, place in places.items()}
        for future in as_completed(running):
            future.result()
            done(running[future])
    for old in set(kept.glob("*.ipynb")) - set(places.values()):
        if any(old.name.startswith(f"{name}-") for name in names):
            old.unlink()
    return {name: nbformat.read(place, as_version=4) for name, place in places.items()}


def _digests(root: Path, names: list[str]) -> Iterator[tuple[str, str]]:
    package = Path(course.__file__).parent
    files = sorted(file for file in package.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    of_course = hashlib.sha256()
    for file in files:
        of_course.update(str(file.relative_to(package)).encode() + b"\0" + file.read_bytes())
    for name in names:
        released = root / "release" / name / f"{name}.ipynb"
        if not released.is_file():
            raise CourseError(f"{name} is not released yet: run `grading release {name}`")
        whole = of_course.copy()
        for file in sorted(file for file in released.parent.rglob("*") if file.is_file()):
            whole.update(file.read_bytes())
        yield name, whole.hexdigest()[:16]


def _run(root: Path, name: str, place: Path) -> None:
    if place.is_file():
        return
    released = root / "release" / name
    with tempfile.TemporaryDirectory() as folder:  # what a lesson writes does not stay in the release
        for file in released.iterdir():
            if file.suffix != ".ipynb":
                (Path(folder) / file.name).symlink_to(file.resolve())
        shutil.copy(released / f"{name}.ipynb", folder)
        ran = subprocess.run(
            [sys.executable, *RUN, f"{name}.ipynb"],
            cwd=folder,
            env=os.environ | {STATIC_PAGE_ENV: "1", "ATTENTION_MEMORY": "off"},
            capture_output=True,
            text=True,
        )
        if ran.returncode:
            raise CourseError(f"{name} could not be run: {ran.stderr.strip().splitlines()[-1]}")
        if found := _error(nbformat.read(Path(folder) / f"{name}.ipynb", as_version=4)):
            raise CourseError(f"{name} does not run from top to bottom: {found}")
        write_file(place, (Path(folder) / f"{name}.ipynb").read_bytes())


def _error(notebook: NotebookNode) -> str:
    """Where a cell ended with an error first, and which; empty where none did."""
    for number, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                return f"cell {number}: {output.ename}: {output.evalue}"
    return ""
