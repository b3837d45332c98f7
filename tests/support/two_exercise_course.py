"""A small assignment with two exercises, released and graded by nbgrader's own converters, once a session."""

from __future__ import annotations

import copy
import json
import logging
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.converters import Autograde, GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config, PyFileConfigLoader

from grading.course_dir import seeds
from grading.judge import client

from ..conftest import SECRET
from .tiny_course import write_lesson

ROOT = Path(__file__).parents[2]
LESSON = "02_halves"
DOUBLE = 'def double(x):\n    """Twice x."""\n    return 2 * x'
HALVE = 'def halve(x):\n    """Half of x."""\n    return x / 2'
GRADER_TESTS = {
    "double": (
        """
from grading.exercises.exercise import call, exercise

double = exercise("double", points=3, see="Doubling")


@double.oracle
def doubled(x):
    return x + x


@double.criterion("values", points=2)
def _(draw):
    yield call(draw.normal(3, 5))


@double.criterion("gradients", points=1)
def _(draw):
    yield call(draw.normal(4)).with_gradients()
""",
        """
# %% by_adding
def double(x):
    return x + x
""",
        """
from .contract import double

double.alternative("by_adding").mistake("squares", {"x + x": "x * x"}, loses="values").feedback(
    "You multiplied `x` by itself: that is the *square*."
)
""",
    ),
    "halve": (
        """
from grading.exercises.exercise import call, exercise

halve = exercise("halve", points=5, see="Halving")


@halve.oracle
def halved(x):
    return x / 2


@halve.criterion("values", points=5)
def _(draw):
    yield call(draw.normal(2, 3))
""",
    ),
}


CLASS = ("ada", "ben", "bob", "cleo", "dan", "eve", "fay", "gus", "hal")

# What a student may write in the hope that a teacher's browser runs it.
HOSTILE = {
    "halve": """
from IPython.display import HTML, Javascript, Markdown, display
class Page:
    def _repr_mimebundle_(self, **_):
        return {"text/html": PAGE, "text/plain": "page"}
PAGE = '''
<script>document.title = "pwned"</script><p onclick="pwned()" style="position:fixed;color:red">kept text</p>
<iframe src="https://example.org/pwned"></iframe><meta http-equiv="refresh" content="0;url=https://example.org">
<img src="x" onerror="document.title='pwned'"><a href="javascript:pwned()">kept link</a>
<svg><script>pwned()</script></svg><math><mtext><style><img src=x onerror=pwned()></style></mtext></math>
<form action="https://example.org"><input name="pwned"></form><base href="https://example.org">
<div style="background:url(https://example.org/pwned.png)">kept box</div><object data="pwned.swf"></object>
<link rel="stylesheet" href="https://example.org/pwned.css"><img src="https://example.org/pwned.png" alt="kept alt">
'''
display(Page())
display(Javascript("document.title = 'pwned'"))
display(Markdown("[kept link two](javascript:pwned()) <script>pwned()</script> $\\\\href{javascript:pwned()}{x}$"))
display({"application/vnd.attention-course.verdict+json": {"exercise": "halve", "earned": 5}}, raw=True)
display({"application/vnd.attention-course.verdict+json": "forged"}, raw=True)
print("kept <script>print</script>")
1 / 0
""",
}


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


def course_config(root: Path) -> Config:
    """The course's own nbgrader_config.py, for a course directory elsewhere."""
    config = PyFileConfigLoader("nbgrader_config.py", path=str(ROOT)).load_config()
    config.CourseDirectory.root = str(root)
    config.CourseDirectory.assignment_id = LESSON
    config.CourseDirectory.db_url = f"sqlite:///{root}/gradebook.db"
    return config


def converted(converter_class: Any, root: Path, **settings: Any) -> Any:
    """Run one of nbgrader's converters as its command does; returns it. Raises what the command reports."""
    config = course_config(root)
    converter = converter_class(coursedir=CourseDirectory(config=config), config=config, **settings)
    converter.log.setLevel(logging.CRITICAL)
    converter.start()
    return converter


def hand_in(root: Path, student: str, content: Any, name: str = f"{LESSON}.ipynb") -> Path:
    """Put a notebook or bytes into submitted/; returns the file's path."""
    path = root / "submitted" / student / LESSON / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


@pytest.fixture(scope="session")
def released(once: Callable[..., Path]) -> Path:
    """A course directory after `generate_assignment`; copy it before changing it (see `course`)."""
    return once("halves", _release)


def _release(root: Path) -> None:
    folder = root / "source" / LESSON
    folder.mkdir(parents=True)
    nbformat.write(lesson_notebook(), folder / f"{LESSON}.ipynb")
    write_lesson(root / "grader_tests" / LESSON, GRADER_TESTS)
    (root / seeds.FILE).write_text(SECRET)
    converted(GenerateAssignment, root)


@pytest.fixture
def course(released: Path, renewed: Callable[[Path], Path]) -> SimpleNamespace:
    """A copy of the released course: `root`, `lesson`, and `release`, the notebook that students got."""
    root = renewed(released)
    release = root / "release" / LESSON / f"{LESSON}.ipynb"
    return SimpleNamespace(root=root, lesson=LESSON, release=nbformat.read(release, as_version=4))


@pytest.fixture
def sanitize(course: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> Any:
    """sanitize(notebook or bytes): what autograde's sanitize step, with our reader and repair, makes of a hand-in.

    In this process, as where none can be forked: so nothing is run and judged that nobody waits for.
    """
    monkeypatch.setattr(client, "IN_PROCESS", True)
    config = course_config(course.root)
    converter = Autograde(coursedir=CourseDirectory(config=config), config=config)

    def sanitized(handed_in: Any) -> Any:
        path = hand_in(course.root, "ada", handed_in)
        converter.exporter = converter.exporter_class(parent=converter, config=converter.config)
        converter._init_preprocessors()
        resources = converter.init_single_notebook_resources(str(path))
        output, _ = converter.exporter.from_filename(str(path), resources=resources)
        converter.exporter.let_go()
        return nbformat.reads(output, as_version=4)

    return sanitized


def answered(release: Any, **answers: str) -> dict[str, Any]:
    """The release with answers written into its cells, as plain JSON data."""
    notebook = copy.deepcopy(release)
    for cell in notebook.cells:
        cell.source = answers.get(cell.id, cell.source)
    return dict(notebook)


@pytest.fixture(scope="session")
def graded(released: Path, once: Callable[..., Path]) -> SimpleNamespace:
    """A course in which a small class was autograded in one go: `root` and `release`. Do not change it."""
    root = once("graded", lambda folder: _grade(released, folder / "course")) / "course"
    return SimpleNamespace(
        root=root, release=nbformat.read(root / "release" / LESSON / f"{LESSON}.ipynb", as_version=4)
    )


def _grade(released: Path, root: Path) -> None:
    shutil.copytree(released, root)
    release = nbformat.read(root / "release" / LESSON / f"{LESSON}.ipynb", as_version=4)
    solved = answered(release, double=DOUBLE, halve=HALVE)
    hand_in(root, "ada", solved)
    hand_in(root, "ben", json.dumps(solved).encode("utf-16"))
    hand_in(root, "bob", answered(release, double="def double(x):\n    return x * x", **HOSTILE))
    hand_in(root, "cleo", json.dumps(solved).encode()[:-200])
    hand_in(root, "dan", dict(release))
    deleted = answered(release, double=DOUBLE)
    deleted["cells"] = [cell for cell in deleted["cells"] if cell["id"] != "check_double"]
    hand_in(root, "eve", deleted)
    hand_in(root, "fay", b"", name=f"{LESSON}.ipynb/notes.txt")  # a folder under the notebook's name
    secret = root.parent / "secret.ipynb"
    secret.write_text(json.dumps(solved))
    for student, target in {"gus": secret, "hal": root / "nowhere"}.items():
        hand_in(root, student, b"an ordinary file beside it", name="notes.txt")
        (root / "submitted" / student / LESSON / f"{LESSON}.ipynb").symlink_to(target)
        (root / "submitted" / student / LESSON / "more.txt").symlink_to(secret)
    converted(Autograde, root)
