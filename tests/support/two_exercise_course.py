"""A small lesson with two exercises, and what students hand in for it (see `course_builder`)."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

LESSON = "02_halves"
DOUBLE = 'def double(x):\n    """Twice x."""\n    return 2 * x'
HALVE = 'def halve(x):\n    """Half of x."""\n    return x / 2'
GRADER_TESTS = {
    "double": (
        """
from grading.exercises.exercise import call, exercise

double = exercise("double", see="Doubling")


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

halve = exercise("halve", see="Halving")


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
        new_code_cell("print('a slow picture')", id="demo", metadata={"tags": ["picture"]}),
        _solution("double", DOUBLE),
        _check("double", 3),
        new_markdown_cell("## Halving", id="halving"),
        _solution("halve", HALVE),
        _check("halve", 5),
        new_markdown_cell("## Summary\n\nDone.", id="summary"),
    ]
    spec = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return new_notebook(cells=cells, metadata={"kernelspec": spec})


def submit_file(root: Path, student: str, content: Any, name: str = f"{LESSON}.ipynb") -> Path:
    """Put a notebook or bytes into submitted/; returns the file's path."""
    path = root / "submitted" / student / LESSON / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def with_answers(release: Any, **answers: str) -> dict[str, Any]:
    """The release with answers written into its cells, as plain JSON data."""
    notebook = copy.deepcopy(release)
    for cell in notebook.cells:
        cell.source = answers.get(cell.id, cell.source)
    return dict(notebook)
