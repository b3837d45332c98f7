"""Otter-Grader on the same lesson and checks: `otter run` in a venv of its own.

An autograder for `otter run` is a zip of test files, one for each exercise, with functions that raise if they fail.
They hold what `stock` writes into the grade cells for nbgrader alone.
"""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
import zipfile
from importlib.metadata import version
from pathlib import Path

from grading.exercises.exercise import Exercise
from grading.exercises.lesson import load_lesson

from .course import ROOT
from .stock import asserts

PLACE = ROOT / "build" / "otter"  # ignored by git, kept from run to run
NEEDS = ("otter-grader", "torch", "numpy", "matplotlib", "ipywidgets", "ipykernel", "safetensors")
TEST = """
OK_FORMAT = False
from otter.test_files import test_case

name = {name!r}
points = {points!r}

@test_case()
def every_case(env):
{body}
"""


class NotInstalled(Exception):
    """Otter-Grader is missing and cannot be installed; the message says why."""


def installed() -> Path:
    """The command `otter`, installed first if it is missing. Raises NotInstalled."""
    python, command = PLACE / "bin" / "python", PLACE / "bin" / "otter"
    if not command.exists():
        print(f"Otter-Grader: an environment is made in {PLACE.relative_to(ROOT)} …", flush=True)
        pins = PLACE.parent / "otter-pins.txt"
        pins.parent.mkdir(parents=True, exist_ok=True)
        pins.write_text(f"torch=={version('torch')}\nnumpy=={version('numpy')}\n")
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-c", str(pins)]
        _run(sys.executable, "-m", "venv", str(PLACE))
        _run(*pip, *NEEDS)
        _run(*pip, "--no-deps", "--editable", str(ROOT))  # `course`, which the notebooks import
    return command


def version_installed() -> str:
    """The version of Otter-Grader in that environment."""
    asked = [
        str(PLACE / "bin" / "python"),
        "-c",
        "from importlib.metadata import version as v; print(v('otter-grader'))",
    ]
    return subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()


def make_autograder(file: Path, lesson: str) -> None:
    """Write the zip that `otter run -a` takes."""
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("otter_config.json", json.dumps({"show_hidden": True}))
        for name, exercise in load_lesson(ROOT / "grader_tests" / lesson).exercises.items():
            made.writestr(f"tests/{name}.py", _test_of(exercise))


def points(results: Path) -> dict[str, float]:
    """Points by exercise, from the results.json that `otter run` writes."""
    told = json.loads(results.read_text(encoding="utf-8"))["tests"]
    return {test["name"]: float(test["score"]) for test in told if "score" in test}


def most(lesson: str) -> float:
    """All points of a lesson."""
    return float(sum(e.points for e in load_lesson(ROOT / "grader_tests" / lesson).exercises.values()))


def _test_of(exercise: Exercise) -> str:
    body = textwrap.indent(asserts(exercise, "env").strip(), "    ")
    return TEST.format(name=exercise.name, points=float(exercise.points), body=body).lstrip()


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise NotInstalled(lines[-1] if lines else f"{command[0]} ended with {done.returncode}")
