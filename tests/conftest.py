"""How the whole suite runs: its plugins, its order, the distribution over processes, and fixtures for any folder."""

from __future__ import annotations

import gc
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Generator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from xdist.scheduler import LoadScopeScheduling

from grading.sandbox import SandboxUnavailable, require

from .support.repository import ROOT
from .support.tiers import mark_further_cases

gc.disable()  # during collection (`pytest_collection_finish`)
pytest_plugins = [
    "tests.support.shared_folders",
    "tests.support.course_fixtures",
    "tests.support.cpu_seconds",
]

COLLECTED = pytest.StashKey[list[pytest.Item]]()  # every item, before `-m` deselects some

# Test processes and their kernels share few cores, and waiting threads make everything about ten times slower
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["ATTENTION_MEMORY"] = "off"  # leave alone the saved progress of whoever runs the tests
torch.set_num_threads(1)
# A script that runs the tests in its background has these ignored, and every process would inherit that
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):  # Windows has none
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


# Modules and lessons that take a minute or more: they start first, so that no core is idle at the end
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
# The tests of such a folder share judges, if in one process
ONE_SCOPE = re.compile(r"tests/(coordinator|nbgrader_plugins|plugins/\w+)/")


class _ByModule(LoadScopeScheduling):
    """Run the tests of a module in one process, for the sake of its fixtures.

    Two exceptions: a module with lessons as parameters is split by lesson, and the folders of `ONE_SCOPE` stay whole.
    """

    def _split_scope(self, nodeid: str) -> str:
        if folder := ONE_SCOPE.match(nodeid):
            return folder[0]
        lesson = LESSON_IN_ID.search(nodeid)
        return nodeid.split("::")[0] + (lesson[1] if lesson else "")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> _ByModule:
    return _ByModule(config, log)


@pytest.hookimpl(wrapper=True, tryfirst=True)  # marks before `-m` selects, sorts after pytest-randomly shuffles
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Generator[None]:
    mark_further_cases(items)
    config.stash[COLLECTED] = list(items)
    yield
    items.sort(key=_rank)


def pytest_collection_finish() -> None:
    """Freeze long-lived objects so the garbage collector skips them; saves about 10% of the run."""
    gc.collect()
    gc.freeze()
    gc.enable()


def _rank(item: pytest.Item) -> bool:
    """Sort key: the longest first."""
    return not any(name in item.nodeid for name in LONGEST)


@pytest.fixture(scope="session")
def sandboxed() -> None:
    """Skip the test, with the reason, on a system without what the sandbox needs."""
    try:
        require()
    except SandboxUnavailable as problem:
        pytest.skip(problem.missing)


@pytest.fixture(scope="session")
def wheels(build_once: Callable[..., Path]) -> dict[str, Path]:
    """The two wheels as they are published, built now: package ("course" or "grading") -> file."""

    def build(folder: Path, project: Path) -> None:
        command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(project)]
        subprocess.run(command, check=True, capture_output=True)

    def built(package: str, project: Path) -> Path:
        (wheel,) = build_once(f"wheel-of-{package}", partial(build, project=project)).glob("*.whl")
        return wheel

    return {"course": built("course", ROOT), "grading": built("grading", ROOT / "grading")}
