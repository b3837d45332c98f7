"""Fixtures that share folders between tests: built once per run, or copied to one path (pytest plugin)."""

from __future__ import annotations

import importlib
import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from filelock import FileLock

BuildOnce = Callable[[str, Callable[[Path], object]], Path]
SEEN = ("grader_tests", "source", "release")  # folders of a course that judges see, as they were at their start


@pytest.fixture(scope="session")
def _copy_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("copy")


def _clear(folder: Path, kept: Iterable[str]) -> None:
    """Remove everything in a folder but the subfolders `kept`, which become empty."""
    for entry in folder.iterdir():
        for path in entry.iterdir() if entry.name in kept else [entry]:
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    importlib.invalidate_caches()  # a copied folder has the time of the one that was here


@pytest.fixture
def fresh_copy(_copy_path: Path) -> Callable[[Path], Path]:
    """`fresh_copy(course)`: a copy of the course for this test, at the path that every test of this process uses.

    Judges serve one directory and its subfolders, as they were when the judges started. A copy at the same path, with
    the same graders (`write_grader_tests`), lets a test use the judges of the test before; new ones take six seconds of
    processor time. So does another level of the sandbox.
    """
    used: list[Path] = []

    def copy(course: Path) -> Path:
        assert not used, f"one copy per test: {used[0]} is there already"
        used.append(course)
        _clear(_copy_path, [name for name in SEEN if (course / name).is_dir()])
        shutil.copytree(course, _copy_path, symlinks=True, dirs_exist_ok=True)
        for name in SEEN:  # a judge's Python looks again into a folder whose time has changed
            if (_copy_path / name).is_dir():
                os.utime(_copy_path / name)
        return _copy_path

    return copy


@pytest.fixture(scope="session")
def build_once(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> BuildOnce:
    """`build_once(name, build)`: the folder filled by `build(folder)`, which only the first process to ask runs.

    Do not change the folder: other processes read it.
    """
    own = tmp_path_factory.getbasetemp()
    shared = (own if worker_id == "master" else own.parent) / "built-once"

    def build_unless_built(name: str, build: Callable[[Path], object]) -> Path:
        folder, finished = shared / name, shared / f"{name}.finished"
        folder.parent.mkdir(exist_ok=True)
        with FileLock(f"{folder}.lock"):
            if not finished.exists():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                build(folder)
                finished.touch()
        return folder

    return build_unless_built


@pytest.fixture(scope="session")
def build_course_once(build_once: BuildOnce, _copy_path: Path) -> BuildOnce:
    """As `build_once`, for a course; it is built at the path of its copies, whose judges then grade it, too."""

    def build_unless_built(name: str, build: Callable[[Path], object]) -> Path:
        def build_there(folder: Path) -> None:
            _clear(_copy_path, SEEN)
            build(_copy_path)
            shutil.copytree(_copy_path, folder, symlinks=True, dirs_exist_ok=True)

        return build_once(name, build_there)

    return build_unless_built
