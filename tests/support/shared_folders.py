"""Fixtures that spare a test what another made already: a course copied to where judges know it, folders made once."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock


@pytest.fixture(scope="session")
def _place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("place")


@pytest.fixture
def renewed(_place: Path) -> Callable[[Path], Path]:
    """`renewed(course)`: a copy of the course for this test, in the place where the tests before had theirs.

    Judges serve one directory, by the folders that were there when they started. Where those stay, with the graders in
    them, the judges of the test before do as well as new ones, which take six seconds of processor time.
    """
    taken: list[Path] = []

    def copied(course: Path) -> Path:
        assert not taken, f"{taken[0]} is there already"
        taken.append(course)
        for entry in _place.iterdir():
            for path in entry.iterdir() if entry.is_dir() and (course / entry.name).is_dir() else [entry]:
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        return Path(shutil.copytree(course, _place, symlinks=True, dirs_exist_ok=True))

    return copied


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Callable[[str, Callable[[Path], object]], Path]:
    """`once(name, make)`: the folder that `make(folder)` filled, in the first process of this run that wants it.

    Do not change it: other processes read it.
    """
    own = tmp_path_factory.getbasetemp()
    shared = (own if worker_id == "master" else own.parent) / "once"

    def made(name: str, make: Callable[[Path], object]) -> Path:
        folder, finished = shared / name, shared / f"{name}.made"
        folder.parent.mkdir(exist_ok=True)
        with FileLock(f"{folder}.lock"):
            if not finished.exists():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                make(folder)
                finished.touch()
        return folder

    return made
