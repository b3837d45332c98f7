"""Fixtures that share folders between tests: built once per run, or copied to one path (pytest plugin)."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock


@pytest.fixture(scope="session")
def _copy_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("copy")


@pytest.fixture
def fresh_copy(_copy_path: Path) -> Callable[[Path], Path]:
    """`fresh_copy(course)`: a copy of the course for this test, at the path that every test of this process uses.

    Judges serve one directory and its subfolders, as they were when the judges started. A copy at the same path, with
    the same graders, lets a test use the judges of the test before; new ones take six seconds of processor time.
    """
    used: list[Path] = []

    def copy(course: Path) -> Path:
        assert not used, f"one copy per test: {used[0]} is there already"
        used.append(course)
        for entry in _copy_path.iterdir():
            for path in entry.iterdir() if entry.is_dir() and (course / entry.name).is_dir() else [entry]:
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        return Path(shutil.copytree(course, _copy_path, symlinks=True, dirs_exist_ok=True))

    return copy


@pytest.fixture(scope="session")
def build_once(
    tmp_path_factory: pytest.TempPathFactory, worker_id: str
) -> Callable[[str, Callable[[Path], object]], Path]:
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
