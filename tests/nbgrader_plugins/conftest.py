"""A small assignment with two exercises, released by nbgrader itself, once a session."""

from __future__ import annotations

import json
import logging
import os
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.converters import Autograde, GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

LESSON = "02_halves"
SANITIZE = tuple(Autograde.sanitize_preprocessors.default_args[0])
DOUBLE = 'def double(x):\n    """Twice x."""\n    return 2 * x'
HALVE = 'def halve(x):\n    """Half of x."""\n    return x / 2'


def _solution(name: str, code: str) -> Any:
    head, body = code.rsplit("\n", 1)
    source = f"{head}\n    ### BEGIN SOLUTION\n{body}\n    ### END SOLUTION"
    marks = {"grade": False, "grade_id": name, "locked": False, "schema_version": 3}
    marks |= {"solution": True, "task": False}
    return new_code_cell(source, id=name, metadata={"nbgrader": marks})


def _check(name: str, points: int) -> Any:
    source = f"check({name})\n### BEGIN HIDDEN TESTS\nfrom grading.judge import grade\n"
    source += f"grade({name})\n### END HIDDEN TESTS"
    marks = {"grade": True, "grade_id": f"check_{name}", "locked": True, "schema_version": 3}
    marks |= {"solution": False, "task": False, "points": points}
    return new_code_cell(source, id=f"check_{name}", metadata={"nbgrader": marks})


def lesson_notebook() -> Any:
    """The lesson as its author writes it."""
    cells = [
        new_markdown_cell("# Halves and doubles\n\nAn equation: $2 \\cdot \\frac{x}{2} = x$", id="title"),
        new_code_cell("def check(f):\n    return 0.0", id="begin"),
        new_markdown_cell("## Doubling", id="doubling"),
        new_code_cell("print('a slow picture')", id="demo", metadata={"tags": ["demo"]}),
        _solution("double", DOUBLE),
        _check("double", 3),
        new_markdown_cell("## Halving", id="halving"),
        _solution("halve", HALVE),
        _check("halve", 5),
        new_markdown_cell("## Summary\n\nDone.", id="summary"),
    ]
    spec = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return new_notebook(cells=cells, metadata={"kernelspec": spec})


@pytest.fixture(scope="session")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course directory after `generate_assignment`; copy it before changing it (see `course`)."""
    root = tmp_path_factory.mktemp("course")
    folder = root / "source" / LESSON
    folder.mkdir(parents=True)
    nbformat.write(lesson_notebook(), folder / f"{LESSON}.ipynb")
    with pytest.MonkeyPatch.context() as patch:  # nbgrader runs `alembic` to make a gradebook
        patch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        config = Config({"CourseDirectory": {"root": str(root), "assignment_id": LESSON}})
        coursedir = CourseDirectory(config=config)
        converter = GenerateAssignment(coursedir=coursedir, config=config)
        converter.log.setLevel(logging.ERROR)
        converter.start()
    return root


@pytest.fixture
def course(released: Path, tmp_path: Path) -> SimpleNamespace:
    """A copy of the released course: `root`, `lesson`, and `release`, the notebook that students got."""
    root = tmp_path / "course"
    shutil.copytree(released, root)
    release = root / "release" / LESSON / f"{LESSON}.ipynb"
    return SimpleNamespace(root=root, lesson=LESSON, release=nbformat.read(release, as_version=4))


@pytest.fixture
def sanitize(course: SimpleNamespace) -> Any:
    """sanitize(notebook or bytes): what autograde's sanitize step, with our reader and repair, makes of a hand-in."""
    from grading.nbgrader_plugins.reading import SubmissionExporter
    from grading.nbgrader_plugins.repair import RepairSubmission

    config = Config({"CourseDirectory": {"root": str(course.root), "assignment_id": LESSON}})
    config.Autograde.exporter_class = SubmissionExporter
    config.Autograde.sanitize_preprocessors = [RepairSubmission, *SANITIZE]
    config.OverwriteCells.add_missing_cells = True
    converter = Autograde(coursedir=CourseDirectory(config=config), config=config)
    path = course.root / "submitted" / "ada" / LESSON / f"{LESSON}.ipynb"
    path.parent.mkdir(parents=True)

    def sanitized(handed_in: Any) -> Any:
        path.write_bytes(handed_in if isinstance(handed_in, bytes) else json.dumps(handed_in).encode())
        converter.exporter = SubmissionExporter(parent=converter, config=converter.config)
        converter._init_preprocessors()
        resources = converter.init_single_notebook_resources(str(path))
        output, _ = converter.exporter.from_filename(str(path), resources=resources)
        return nbformat.reads(output, as_version=4)

    return sanitized
