"""A release made anew by nbgrader: swapped in when it is whole, and the old one kept where it is refused."""

from __future__ import annotations

import json
import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.converters import GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.dbutil import write_alembic_ini
from sqlalchemy import create_engine, text

from ..support.nbgrader_runner import course_config
from ..support.repository import ROOT
from ..support.two_exercise_course import LESSON


def released_again(root: Path, force: bool = True) -> None:
    config = course_config(root)
    made = GenerateAssignment(coursedir=CourseDirectory(config=config), config=config)
    made.force, made.log = force, logging.getLogger("release")
    made.start()
    assert not list(root.glob(".releasing-*"))


def change(root: Path, **cell: Any) -> None:
    """Add a cell to the lesson."""
    path = root / "source" / LESSON / f"{LESSON}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell(**cell))
    nbformat.write(notebook, path)


def files(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in (root / "release").rglob("*") if path.is_file()}


def test_a_refused_release_leaves_the_old_one_and_explains_the_remedy(
    course: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with Gradebook(f"sqlite:///{course.root}/gradebook.db", "attention") as gradebook:
        gradebook.add_student("ada")
        gradebook.add_submission(LESSON, "ada")
    before = files(course.root)
    marks = {"grade": False, "grade_id": "third", "locked": False, "schema_version": 3, "solution": True, "task": False}
    change(course.root, source="def third(x):\n    pass", id="third", metadata={"nbgrader": marks})
    with pytest.raises(NbGraderException):
        released_again(course.root)
    assert files(course.root) == before
    assert f"{LESSON} has 1 submission in the gradebook" in caplog.text
    assert "(added: third). The release was not changed." in caplog.text
    assert f"nbgrader db assignment remove {LESSON} --force" in caplog.text


@pytest.mark.full
def test_a_gradebook_is_made_where_no_alembic_is_on_path_and_has_the_version_that_it_would_name(course: Any) -> None:
    (course.root / "gradebook.db").unlink()
    (course.root / "nbgrader_config.py").write_text((ROOT / "nbgrader_config.py").read_text())
    nbgrader = [sys.executable, "-m", "nbgrader", "generate_assignment", LESSON, "--force"]
    subprocess.run(
        nbgrader, cwd=course.root, env={**os.environ, "PATH": "/nowhere", "HOME": str(course.root)}, check=True
    )
    with create_engine(f"sqlite:///{course.root}/gradebook.db").connect() as gradebook:
        (written,) = gradebook.execute(text("SELECT version_num FROM alembic_version")).scalars()
    write_alembic_ini(str(course.root / "alembic.ini"))
    alembic = shutil.which("alembic", path=Path(sys.executable).parent)
    heads = subprocess.run([str(alembic), "heads"], cwd=course.root, check=True, capture_output=True, text=True)
    assert heads.stdout.split() == [written, "(head)"]


def test_a_release_takes_the_place_of_the_old_one_whole(course: Any) -> None:
    (course.root / "release" / LESSON / "old.txt").write_text("of the release before")
    (course.root / "source" / LESSON / "data.csv").write_text("1,2")
    change(course.root, source="print('new')", id="new")
    released_again(course.root, force=False)
    assert "print('new')" not in (course.root / "release" / LESSON / f"{LESSON}.ipynb").read_text()  # nbgrader's way
    released_again(course.root)
    folder = course.root / "release" / LESSON
    assert "print('new')" in json.dumps(nbformat.read(folder / f"{LESSON}.ipynb", as_version=4))
    assert sorted(path.name for path in folder.iterdir()) == [f"{LESSON}.ipynb", "data.csv"]


def test_what_a_killed_release_left_is_cleared_away(course: Any) -> None:
    (course.root / ".releasing-left" / LESSON).mkdir(parents=True)
    released_again(course.root)
