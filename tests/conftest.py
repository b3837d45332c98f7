"""A course that is built and released once a test process: what grading tests start from."""

from __future__ import annotations

import gc
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Generator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from xdist.scheduler import LoadScopeScheduling

from grading.authoring.build import build_lesson
from grading.coordinator.nbgrader_api import release
from grading.course_dir import seeds
from grading.course_dir.paths import list_lessons
from grading.sandbox import SandboxUnavailable, require

gc.disable()  # until all tests are there (`pytest_collection_finish`)
pytest_plugins = [
    "tests.support.two_exercise_course",
    "tests.support.shared_folders",
]  # fixtures that several folders use

ROOT = Path(__file__).parents[1]
LESSONS = list_lessons(ROOT)
SECRET = "5eed" * 8  # of courses that tests make: what fails once fails again

# Two test processes and their kernels share two cores, and threads that wait for each other take ten times longer
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["ATTENTION_MEMORY"] = "off"  # the progress of whoever runs the tests is theirs
torch.set_num_threads(1)


# Longest first, so that no core waits for another at the end. These take a minute and more
LONGEST = (
    "test_hostile",
    "test_formgrader",
    "08_training",
    "test_wheels",
    "test_cluster",
    "test_postgresql",
    "test_term",
)
LESSON_IN_ID = re.compile(r"\[.*?(\d\d_[a-z_]+)")
TOGETHER = re.compile(
    r"tests/(coordinator|nbgrader_plugins)/"
)  # judges of one test do for the next, of the same process


class _ByModule(LoadScopeScheduling):
    """A module's tests run in one process, for its fixtures' sake; where a lesson is a parameter, that lesson's do.

    Of folders in which most tests want judges, all do.
    """

    def _split_scope(self, nodeid: str) -> str:
        if together := TOGETHER.match(nodeid):
            return together[0]
        lesson = LESSON_IN_ID.search(nodeid)
        return nodeid.split("::")[0] + (lesson[1] if lesson else "")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> _ByModule:
    return _ByModule(config, log)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--first-cases", action="store_true", help="of a slow test that has several cases, run the first")


@pytest.hookimpl(wrapper=True, tryfirst=True)  # the first cases are chosen before pytest-randomly shuffles
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Generator[None]:
    if config.getoption("first_cases"):
        _leave_further_cases(config, items)
    yield
    items.sort(key=_rank)


def pytest_collection_finish() -> None:
    """What stays until the end, torch and the tests, is looked through by no collection: a tenth of all time."""
    gc.collect()
    gc.freeze()
    gc.enable()


def _leave_further_cases(config: pytest.Config, items: list[pytest.Item]) -> None:
    seen: set[str] = set()
    further = []
    for item in items:
        test = item.nodeid.split("[")[0]
        if test in seen and item.get_closest_marker("slow"):
            further.append(item)
        seen.add(test)
    config.hook.pytest_deselected(items=further)
    items[:] = [item for item in items if item not in set(further)]


def _rank(item: pytest.Item) -> tuple[bool, bool]:
    return not any(name in item.nodeid for name in LONGEST), item.get_closest_marker("slow") is None


@pytest.fixture(scope="session")
def sandboxed() -> None:
    """Skips the test, and says what is missing, where a student's code cannot be confined."""
    try:
        require()
    except SandboxUnavailable as problem:
        pytest.skip(problem.missing)


@pytest.fixture(scope="session")
def classroom(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """`classroom(lesson)` is the root of a course directory in which that lesson is released and nothing handed in."""
    root = tmp_path_factory.mktemp("classroom")
    for name in ("nbgrader_config.py", "source", "grader_tests"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, root / name)
    (root / seeds.FILE).write_text(SECRET)
    released: set[str] = set()

    def with_lesson(lesson: str) -> Path:
        if lesson not in released:
            build_lesson(root, lesson)
            release(root, lesson)
            released.add(lesson)
        return root

    return with_lesson


@pytest.fixture(scope="session")
def wheels(once: Callable[..., Path]) -> dict[str, Path]:
    """The wheels that are published, built now: package -> file, for `course` and `grading`."""

    def build(folder: Path, project: Path) -> None:
        command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(project)]
        subprocess.run(command, check=True, capture_output=True)

    def built(package: str, project: Path) -> Path:
        (wheel,) = once(f"wheel-of-{package}", partial(build, project=project)).glob("*.whl")
        return wheel

    return {"course": built("course", ROOT), "grading": built("grading", ROOT / "grading")}
