"""The student's road in an environment of another shape: an empty folder, one notebook, Run All.

    python -m tests.road colab FOLDER     makes FOLDER an environment like Colab's and walks the road there
    python -m tests.road lowest FOLDER    the same with the lowest versions that the package declares, and its tests

The published notebooks and the wheel are served by a web server on this machine, in the place of the repository on the
web. Every lesson is run untouched and solved; one line for each says what it took.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from packaging.requirements import Requirement

from grading.delivery import Origin
from grading.judge.lesson import load_lesson
from grading.publish import make_wheel, publish
from grading.root import lessons
from grading.sample import right, write_answers

ROOT = Path(__file__).parents[1]
# What a fresh machine of Colab's has, as far as the road depends on it. It has no `course`
COLAB = (
    "ipython==7.34.0",
    "ipykernel==6.17.1",
    "ipywidgets==7.7.1",
    "matplotlib==3.10.0",
    "numpy==2.0.2",
    "safetensors",
)
KEPT = ("torch", "numpy", "ipython", "ipywidgets", "matplotlib")
ENGINE = re.compile(r"^from (grading|nbgrader|\.\.corpus)\b", re.M)
TO_TEST = ("ipykernel==6.17.1", "pytest")


@dataclass(frozen=True)
class Walked:
    """One notebook from its link to its last cell. first: seconds of its first two cells; error: what stopped it."""

    lesson: str
    state: str
    first: float
    seconds: float
    error: str = ""

    def __str__(self) -> str:
        told = f"{self.lesson}, {self.state}: {self.first:.1f} s to the first cell's end, {self.seconds:.0f} s in all"
        return f"{told}; ✗ {self.error}" if self.error else told


def lowest(root: Path = ROOT) -> list[str]:
    """The lowest versions that the student's package declares, as requirements."""
    declared = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    made = []
    for requirement in map(Requirement, declared):
        if requirement.marker is None or requirement.marker.evaluate():
            made += [f"{requirement.name}=={s.version}" for s in requirement.specifier if s.operator == ">="]
    return made


def tested(name: str) -> str:
    """The requirement in constraints.txt for this package: of torch, plain, an index gives the largest build it has."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return next(line for line in lines if line.startswith(f"{name}=="))


def environment(folder: Path, requirements: list[str], *, constraints: Path | None = None) -> Path:
    """A virtual environment that has these; its Python."""
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    pinned = ["-c", str(constraints)] if constraints else []
    subprocess.run([python, "-m", "pip", "install", "--quiet", *pinned, *requirements], check=True)
    return python


def versions(python: Path, names: tuple[str, ...] = KEPT) -> dict[str, str]:
    code = "import json, sys; from importlib.metadata import version\n"
    code += "print(json.dumps({name: version(name) for name in sys.argv[1:]}))"
    done = subprocess.run([python, "-c", code, *names], capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The folder on a web server of this machine; its address."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def run_all(notebook: NotebookNode, python: Path, where: Path) -> float:
    """Run all cells by this Python's kernel in `where`; the seconds until the first two code cells had run.

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
        begun, ended = time.monotonic(), list[float]()
        client = NotebookClient(
            notebook,
            km=AsyncKernelManager(kernel_name="road", kernel_spec_manager=found),
            timeout=None,
            resources={"metadata": {"path": str(where)}},
            on_cell_executed=lambda **_: ended.append(time.monotonic() - begun),
        )
        client.execute(cleanup_kc=True, env={**os.environ, "PYTHONPATH": "", "PYDEVD_DISABLE_FILE_VALIDATION": "1"})
        return ended[1]


def walk(python: Path, notebook: NotebookNode, lesson: str, state: str) -> Walked:
    """Run a notebook alone in an empty folder, then take the package away again."""
    before, begun, first, error = versions(python), time.monotonic(), 0.0, ""
    with tempfile.TemporaryDirectory() as empty:
        try:
            first = run_all(notebook, python, Path(empty))
        except CellExecutionError as failed:
            error = " ".join(str(failed).split())[-300:]
    seconds = time.monotonic() - begun
    if (after := versions(python)) != before:
        error += f" what was installed has changed: {before} -> {after}"
    subprocess.run([python, "-m", "pip", "uninstall", "--quiet", "--yes", "attention-course"], check=True)
    return Walked(lesson, state, first, seconds, error)


@contextmanager
def published(root: Path) -> Iterator[Path]:
    """A folder with the students' notebooks, whose first cells ask a web server of this machine for the wheel."""
    with tempfile.TemporaryDirectory() as wheels, tempfile.TemporaryDirectory() as folder, served(Path(wheels)) as at:
        wheel = make_wheel(Path(wheels), {})
        publish(root, Path(folder), Origin(version("attention-course"), f"{at}/{wheel.name}"))
        yield Path(folder)


def road(python: Path, names: list[str], root: Path = ROOT) -> Iterator[Walked]:
    """Publish what is released, and walk each of these lessons untouched and solved."""
    with published(root) as folder:
        for name in names:
            notebook = nbformat.read(folder / f"{name}.ipynb", as_version=4)
            solved = write_answers(notebook, right(load_lesson(root / "grader_tests" / name), 0))
            for state, one in (("untouched", notebook), ("solved", solved)):
                yield walk(python, one, name, state)


def course_tests(python: Path) -> int:
    """The tests of `course` that need nothing of the engine, by this Python; their exit status."""
    tests = [
        str(path)
        for path in sorted((ROOT / "tests" / "course").glob("test_*.py"))
        if not ENGINE.search(path.read_text(encoding="utf-8"))
    ]
    plain = ["-o", "addopts=", "-o", "filterwarnings=default", "--confcutdir", str(ROOT / "tests" / "course")]
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *plain, *tests]
    return subprocess.run(command, cwd=ROOT).returncode


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shape", choices=["colab", "lowest"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("lessons", nargs="*", metavar="LESSON", help="all, where none is named")
    parser.add_argument(
        "--torch", default="", help="its requirement, where another build than the index's is to be had"
    )
    asked = parser.parse_args(arguments)
    wanted = [*COLAB, tested("torch")] if asked.shape == "colab" else [*lowest(), *TO_TEST]
    if asked.torch:
        wanted = [asked.torch, *(one for one in wanted if Requirement(one).name != "torch")]
    python = environment(asked.folder, wanted)
    print(f"{asked.shape}: {versions(python)}", flush=True)
    failed = course_tests(python) if asked.shape == "lowest" else 0
    for one in road(python, lessons(ROOT, asked.lessons)):
        print(one, flush=True)
        failed = failed or int(bool(one.error))
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
