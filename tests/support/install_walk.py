"""Run lessons as a student does in another environment: an empty folder, one notebook, Run All.

    python -m tests.support.install_walk colab FOLDER     makes FOLDER an environment like Colab's, and runs there
    python -m tests.support.install_walk lowest FOLDER    the same with the lowest declared versions, and tests

The first needs Python 3.13 (`colab_versions`), the second Python 3.11, whatever Python runs this.

A web server on this machine serves the published notebooks and the wheel, instead of the repository on the web. Every
lesson runs untouched and solved; one line for each run says how long it took.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from packaging.requirements import Requirement

from grading.authoring.student_install import PackageSource
from grading.authoring.student_repo import make_wheel, publish
from grading.coordinator.demo_class import correct_answers, write_answers
from grading.course_dir.lessons import list_lessons
from grading.exercises.lesson import load_lesson

from .colab_versions import COLAB, PYTHON

ROOT = Path(__file__).parents[2]
KEPT = ("torch", "numpy", "ipython", "ipywidgets", "matplotlib")
# What a test imports that the environment of `lowest` lacks: the engine, also by a helper
ENGINE = re.compile(r"^(?:from|import) (?:grading|nbgrader|benchmarks|\.+support\.(?!learner))", re.M)
TO_TEST = ("ipykernel==6.17.1", "pytest")
LOWEST_PYTHON = "3.11"  # the lowest torch has no wheels for 3.13


@dataclass(frozen=True)
class Walked:
    """How one notebook ran, from its link to its last cell.

    first, figure, seconds  until its first two cells had run, until its first picture was there, and in all
    megabytes               of the notebook, and of what its first cell fetched
    error                   what stopped it
    """

    lesson: str
    state: str
    first: float
    figure: float
    seconds: float
    megabytes: float
    error: str = ""

    def __str__(self) -> str:
        begun = f"{self.first:.1f} s to the first cell's end, {self.figure:.1f} s to the first picture"
        told = f"{self.lesson}, {self.state}: {begun}, {self.seconds:.0f} s in all; {self.megabytes:.2f} MB"
        return f"{told}; ✗ {self.error}" if self.error else told


def lowest(root: Path = ROOT) -> list[str]:
    """Requirements for the lowest versions that the student's package allows."""
    declared = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    made = []
    for requirement in map(Requirement, declared):
        if requirement.marker is None or requirement.marker.evaluate():
            made += [f"{requirement.name}=={s.version}" for s in requirement.specifier if s.operator == ">="]
    return made


def python_number(python: Path) -> str:
    """A Python's version, as in "3.13"; "" if it does not run."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True)
    return done.stdout.strip()


def find_python(number: str) -> Path:
    """A Python of this version: this one, on PATH, or pyenv's. Exits with the remedy if there is none."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [Path(sys.executable), *pyenv.glob(f"{number}.*/bin/python")]
    if on_path := shutil.which(f"python{number}"):
        found.insert(1, Path(on_path))
    for python in found:
        if python_number(python) == number:
            return python
    sys.exit(f"Python {number} not found: put python{number} on PATH, or run `pyenv install {number}`.")


def environment(folder: Path, number: str, requirements: list[str]) -> Path:
    """Make a virtual environment of this Python with these packages; returns its Python."""
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([find_python(number), "-m", "venv", str(folder)], check=True)
    if (there := python_number(python)) != number:
        sys.exit(f"{folder}: expected Python {number}, got Python {there or 'that does not run'}. Delete this folder.")
    pip_run(python, "install", *requirements)
    return python


def pip_run(python: Path, verb: str, *arguments: str) -> None:
    subprocess.run([python, "-m", "pip", verb, "--quiet", *arguments], check=True)


def versions(python: Path, names: tuple[str, ...] = KEPT) -> dict[str, str]:
    code = "import json, sys; from importlib.metadata import version\n"
    code += "print(json.dumps({name: version(name) for name in sys.argv[1:]}))"
    done = subprocess.run([python, "-c", code, *names], capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


@contextmanager
def served(folder: Path, fetched: Counter[str] | None = None) -> Iterator[str]:
    """Serve the folder over HTTP; yields the address. `fetched` counts bytes by path."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

        def copyfile(self, source: Any, outputfile: Any) -> None:
            if fetched is not None:
                fetched[self.path] += os.fstat(source.fileno()).st_size
            super().copyfile(source, outputfile)

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def _draws(cell: NotebookNode) -> bool:
    shown = [output.get("data", {}) for output in cell.get("outputs", [])]
    kinds = [kind for data in shown for kind in data] + [str(data.get("text/html", "")) for data in shown]
    return any(kind.startswith("image/") or "<img" in kind or "<svg" in kind for kind in kinds)


def run_all(notebook: NotebookNode, python: Path, where: Path) -> tuple[float, float]:
    """Run all cells in a kernel of this Python, in the folder `where`.

    Returns the seconds until the first two code cells had run, and until the first picture was there, NaN without one.
    Raises CellExecutionError where a cell does.
    """
    spec = {
        "argv": [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "",
        "language": "",
    }
    with tempfile.TemporaryDirectory() as specs:
        kernel = Path(specs) / "road"
        kernel.mkdir()
        (kernel / "kernel.json").write_text(json.dumps(spec))
        found = KernelSpecManager(kernel_dirs=[specs], ensure_native_kernel=False)
        begun, ended, pictures = time.monotonic(), list[float](), list[float]()

        def note(cell: NotebookNode, **_: Any) -> None:
            ended.append(time.monotonic() - begun)
            if _draws(cell):
                pictures.append(ended[-1])

        client = NotebookClient(
            notebook,
            km=AsyncKernelManager(kernel_name="road", kernel_spec_manager=found),
            timeout=None,
            resources={"metadata": {"path": str(where)}},
            on_cell_executed=note,
        )
        client.execute(cleanup_kc=True, env={**os.environ, "PYTHONPATH": "", "PYDEVD_DISABLE_FILE_VALIDATION": "1"})
        return ended[1], pictures[0] if pictures else math.nan


def walk(python: Path, notebook: NotebookNode, lesson: str, state: str, fetched: Counter[str]) -> Walked:
    """Run a notebook alone in an empty folder, then uninstall the package."""
    before, begun, first, figure, error = versions(python), time.monotonic(), 0.0, 0.0, ""
    fetched.clear()
    size = len(nbformat.writes(notebook).encode())
    with tempfile.TemporaryDirectory() as empty:
        try:
            first, figure = run_all(notebook, python, Path(empty))
        except CellExecutionError as failed:
            error = " ".join(str(failed).split())[-300:]
    seconds = time.monotonic() - begun
    if (after := versions(python)) != before:
        error += f" what was installed has changed: {before} -> {after}"
    pip_run(python, "uninstall", "--yes", "attention-course")
    return Walked(lesson, state, first, figure, seconds, (size + fetched.total()) / 1e6, error)


@contextmanager
def published(root: Path) -> Iterator[tuple[Path, Counter[str]]]:
    """A folder with the students' notebooks, whose first cells fetch the wheel from here, and the bytes fetched."""
    fetched = Counter[str]()
    with ExitStack() as stack:
        wheels, folder = (Path(stack.enter_context(tempfile.TemporaryDirectory())) for _ in range(2))
        at = stack.enter_context(served(wheels, fetched))
        publish(root, folder, PackageSource(version("attention-course"), f"{at}/{make_wheel(wheels, {}, {}).name}"))
        yield folder, fetched


def road(python: Path, names: list[str], root: Path = ROOT) -> Iterator[Walked]:
    """Publish the release, and run each of these lessons untouched and solved."""
    with published(root) as (folder, fetched):
        for name in names:
            notebook = nbformat.read(folder / f"{name}.ipynb", as_version=4)
            solved = write_answers(notebook, correct_answers(load_lesson(root / "grader_tests" / name), 0))
            for state, one in (("untouched", notebook), ("solved", solved)):
                yield walk(python, one, name, state, fetched)


def course_test_files() -> list[Path]:
    """The tests of `course` that do not need the engine."""
    files = sorted((ROOT / "tests" / "course").rglob("test_*.py"))
    return [path for path in files if not ENGINE.search(path.read_text(encoding="utf-8"))]


def course_tests(python: Path, *options: str) -> int:
    """Run the tests of `course` that do not need the engine with this Python; returns the exit status.

    The package is installed for as long, for the kernels and programs that tests start.
    """
    plain = ["-o", "addopts=", "-o", "filterwarnings=default", "--confcutdir", str(ROOT / "tests" / "course")]
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *plain, *options, *course_test_files()]
    with tempfile.TemporaryDirectory() as folder:
        pip_run(python, "install", "--no-deps", str(make_wheel(Path(folder), {}, {})))
        environment = {**os.environ, "ATTENTION_MEMORY": "off"}  # as in tests/conftest.py, which is left out
        status = subprocess.run(command, cwd=ROOT, env=environment).returncode
    pip_run(python, "uninstall", "--yes", "attention-course")
    return status


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shape", choices=["colab", "lowest"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("lessons", nargs="*", metavar="LESSON", help="all, where none is named")
    parser.add_argument(
        "--torch", default="", help="its requirement, where another build than the index's is to be had"
    )
    asked = parser.parse_args(arguments)
    number, wanted = (PYTHON, [*COLAB]) if asked.shape == "colab" else (LOWEST_PYTHON, [*lowest(), *TO_TEST])
    if asked.torch:
        wanted = [asked.torch, *(one for one in wanted if Requirement(one).name != "torch")]
    python = environment(asked.folder, number, wanted)
    print(f"{asked.shape}, Python {number}: {versions(python)}", flush=True)
    failed = course_tests(python) if asked.shape == "lowest" else 0
    for one in road(python, list_lessons(ROOT, asked.lessons)):
        print(one, flush=True)
        failed = failed or int(bool(one.error))
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
