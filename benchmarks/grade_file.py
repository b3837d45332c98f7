"""From the start of a command to the result of one submission, as a platform waits for it.

    python -m benchmarks.grade_file [--lesson 02_softmax] [--rounds 3]

Measured are `grading grade-file` with the full sandbox, and the script of a platform's package at the level
`contained`, in an imitation of Docker's default settings (tests/support/docker_default.py). A cold run is the first
after the system dropped its cache of files, which only root can ask for; a warm one follows it. CPU is the processor
time of all processes; on a busy machine it says more than the wall clock does. Figures are medians over the rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import nbformat
from rich.progress import track

from grading.course import Course
from grading.plugins.platforms.package_lesson import package_lesson
from tests.support.course_builder import build_course, solved_notebook
from tests.support.repository import ROOT

from .supervise import succeeded, supervised

CACHES = Path("/proc/sys/vm/drop_caches")
AIM = 15.0  # seconds of a cold run of lesson 02 on two cores
LIMIT = 600.0
Runs = dict[tuple[str, str], list[tuple[float, float]]]  # (command, "cold" or "warm") -> wall and CPU of each round


def main(arguments: list[str] | None = None) -> list[str]:
    """Measure and print; returns the lines of the summary."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.grade_file", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lesson", default="02_softmax", help="lesson that is graded (default: 02_softmax)")
    parser.add_argument("--rounds", type=int, default=3, help="cold and warm runs of each command (default: 3)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="grade-file-") as folder:
        os.chmod(folder, 0o750)  # judges at the level `contained` are in root's group
        runs = _runs(_commands(Path(folder), options.lesson), Path(folder), options.rounds)
    print(f"\n{'lesson ' + options.lesson:<34}{'':>8}  wall s   CPU s")
    lines = []
    for (name, state), costs in runs.items():
        wall, cpu = (statistics.median(cost[i] for cost in costs) for i in (0, 1))
        lines.append(f"{name:<34}{state:>8}  {wall:>6.1f}  {cpu:>6.1f}")
    print("\n".join(lines))
    print(f"aim: {AIM:.0f} s cold; {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f} at the end")
    return lines


def _commands(folder: Path, lesson: str) -> dict[str, list[str]]:
    """The commands by name; each writes results/result.json."""
    root = build_course(folder / "course", [lesson], release=True)
    handed_in = folder / "handed-in"
    handed_in.mkdir(mode=0o750)
    file = handed_in / f"{lesson}.ipynb"
    nbformat.write(solved_notebook(root, lesson), file)
    result = str(folder / "results" / "result.json")
    found = {"grade-file": ["grading", "grade-file", str(file), lesson, "--course", str(root), "--output", result]}
    if os.geteuid() == 0:
        package, wheels = folder / "package", folder / "wheels"
        wheels.mkdir()
        for name in ("attention-course", "attention-course-teach"):  # they go along, and nothing is installed here
            (wheels / f"{name.replace('-', '_')}-{version(name)}-py3-none-any.whl").touch()
        package_lesson(Course(root), lesson, "prairielearn", wheels, package)
        script = ["bash", str(package / "tests" / "grade.sh"), str(handed_in), result]
        found["package's script, contained"] = ["python", "-m", "tests.support.docker_default", *script]
    return found


def _runs(commands: dict[str, list[str]], folder: Path, rounds: int) -> Runs:
    runs: Runs = {}
    variables = {"PYTHONPATH": str(ROOT), "ATTENTION_ENVIRONMENT": sys.prefix}
    result = folder / "results" / "result.json"
    for _ in track(range(rounds), f"{rounds} rounds"):
        for name, command in commands.items():
            for state in ("cold", "warm") if _drop_caches() else ("not cold", "warm"):
                result.unlink(missing_ok=True)
                ran = succeeded(supervised(command, ROOT, LIMIT, variables=variables))
                json.loads(result.read_text())
                runs.setdefault((name, state), []).append((ran.wall, ran.cpu))
    return runs


def _drop_caches() -> bool:
    """Let the system forget the files that it has read; False if it does not."""
    os.sync()
    try:
        CACHES.write_text("3")
    except OSError:
        return False
    return True


if __name__ == "__main__":
    main()
