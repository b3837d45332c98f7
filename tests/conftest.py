"""A course that is built and released once a test process: what grading tests start from."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from grading.build import build_lesson, lessons
from grading.run.nbgrader import release

ROOT = Path(__file__).parents[1]
LESSONS = lessons(ROOT)

# Two test processes and their kernels share two cores, and threads that wait for each other take ten times longer
os.environ.setdefault("OMP_NUM_THREADS", "1")
torch.set_num_threads(1)


LISTENING = ("test_hostile.py", "test_benchmarks.py", "sandbox")  # what puts canaries up, which share one port and file


@pytest.hookimpl(tryfirst=True)  # before what is asked for by its mark is chosen
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What listens on the canaries' port is run in one process, after all others (`make test`)."""
    for item in items:
        if set(LISTENING) & set(item.path.parts):
            item.add_marker(pytest.mark.canaries)


@pytest.fixture(scope="session")
def classroom(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """`classroom(lesson)` is the root of a course directory in which that lesson is released and nothing handed in."""
    root = tmp_path_factory.mktemp("classroom")
    for name in ("nbgrader_config.py", "source", "grader_tests"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, root / name)
    released: set[str] = set()

    def with_lesson(lesson: str) -> Path:
        if lesson not in released:
            build_lesson(root, lesson)
            release(root, lesson)
            released.add(lesson)
        return root

    return with_lesson


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The wheels that are published, built now: package -> file, for `course` and `grading`."""
    built = {}
    for package, project in (("course", ROOT), ("grading", ROOT / "grading")):
        out = tmp_path_factory.mktemp(f"wheel-of-{package}")
        command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(project)]
        subprocess.run(command, check=True, capture_output=True)
        (built[package],) = out.glob("*.whl")
    return built
