"""What a first submission sees while it is graded earns a second one nothing.

A spy writes down whatever it is called with, in every way that it has: prints, files, later cells, exceptions and
their types, results, and the names of forbidden functions. Its outputs and pages are searched for that, and a table of
all that was found is graded on the same hidden cases.
"""

from __future__ import annotations

import base64
import html
import json
import os
import re
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
import torch
from nbformat.v4 import new_code_cell

from grading.coordinator.demo_class import hand_in, write_answers
from grading.course_dir.seeds import lesson_seed, seed_of
from grading.exercises.exercise import Exercise
from grading.exercises.lesson import load_lesson
from grading.grader.local import grade_in_process
from grading.grader.references import practice_cases, prepare
from grading.notebooks.cells import check_of, grade_id

from ..support.canaries import register
from ..support.repository import ROOT, SEED, of_this_week

pytestmark = pytest.mark.usefixtures("sandboxed")

SPY = """
import atexit, base64, json, sys, threading, warnings, zlib
import torch

SEEN = []

def written(a, k):
    given = [x for x in (*a, *k.values()) if isinstance(x, torch.Tensor)]
    if any(x.is_meta for x in given):
        return ""
    text = json.dumps([[list(x.shape), str(x.dtype)[6:], x.detach().flatten().tolist()] for x in given])
    return "LOOT-" + base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode() + "-END"

def {name}(*a, **k):
    text = written(a, k)
    SEEN.append(text)
    print(text)
    sys.__stderr__ and sys.__stderr__.write(text)
    open("loot.txt", "a").write(text)
    warnings.warn(text)
    threading.Timer(0.5, print, [text]).start()
    way = len(SEEN) % 5
    if way == 0:
        raise ValueError(text)
    if way == 1:
        raise type(text, (Exception,), dict())
    if way == 2:
        return dict([(text, 0)])
    if way == 3:
        return text
    return type(text, (), dict())()

atexit.register(lambda: print(SEEN))
"""
# The watcher's list of names is one more thing that the learner's process reports
SPY_OF_NAMES = """
import course.harness.runner as runner

class Watcher(runner.ForbiddenCallWatcher):
    def __exit__(self, *reason):
        super().__exit__(*reason)
        self.used += [part for text in SEEN[-1:] for part in (text[i : i + 190] for i in range(0, len(text), 190))]

runner.ForbiddenCallWatcher = Watcher
"""
# The hints on slips are made from what errors say
SPY_IN_ERRORS = SPY.replace(
    "    way = len(SEEN) % 5\n", '    raise TypeError("{name}() got an unexpected keyword argument " + text)\n'
)
LATER = "print(SEEN)\nimport pathlib\nprint(pathlib.Path('loot.txt').exists() and pathlib.Path('loot.txt').read_text())"
SPIED = {
    "01_dot_products": ("dot", "cosine_similarity"),
    "02_softmax": ("softmax", "entropy"),
    "05_causal_mask": ("masked_attention",),
}


def key_of(arguments: Any) -> str:
    """The tensors among arguments, as text."""
    given = [x for x in arguments if isinstance(x, torch.Tensor)]
    if any(x.is_meta for x in given):
        return "meta"
    return json.dumps([[list(x.shape), str(x.dtype)[6:], x.detach().flatten().tolist()] for x in given])


def loot(text: str) -> set[str]:
    """All inputs that a text holds, as the spy wrote them."""
    found = set()
    for packed in re.findall(r"LOOT-([A-Za-z0-9_=-]+?)-END", text):
        try:
            found.add(zlib.decompress(base64.urlsafe_b64decode(packed)).decode())
        except (ValueError, zlib.error):  # cut
            continue
    return found


def table(exercise: Exercise, known: set[str]) -> Callable[..., Any]:
    """An answer that is right where it knows the inputs, with gradients, and wrong elsewhere."""

    def answer(*a: Any, **k: Any) -> Any:
        if key_of((*a, *k.values())) not in known:
            raise KeyError("not in the table")
        return exercise.answer(*a, **k)

    return answer


def nbgrader(root: Path, *arguments: str) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["nbgrader", *arguments], cwd=root, env={**os.environ, "PATH": path}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]


def spy_on(root: Path, lesson: str, name: str, code: str) -> str:
    """Grade a spy; all that its author gets to see: the graded notebook and the feedback page."""
    release = nbformat.read(root / "release" / lesson / f"{lesson}.ipynb", as_version=4)
    notebook = write_answers(release, {name: code})
    place = next(i for i, cell in enumerate(notebook.cells) if grade_id(cell) == check_of(name))
    notebook.cells.insert(place + 1, new_code_cell(LATER))
    notebook.cells.append(new_code_cell(LATER))
    student = f"spy-{name}"
    hand_in(root, lesson, student, notebook)
    register(root, student)
    nbgrader(root, "autograde", lesson, "--force", f"--student={student}")
    nbgrader(root, "generate_feedback", lesson, "--force", f"--student={student}")
    graded = json.dumps(nbformat.read(root / "autograded" / student / lesson / f"{lesson}.ipynb", as_version=4))
    page = (root / "feedback" / student / lesson / f"{lesson}.html").read_text(encoding="utf-8")
    return graded + html.unescape(re.sub(r"<[^>]*>", "", page)) + page


@pytest.mark.full
@pytest.mark.parametrize("name", of_this_week([name for names in SPIED.values() for name in names], 2))
@pytest.mark.parametrize("spy", [SPY, SPY + SPY_OF_NAMES, SPY_IN_ERRORS], ids=["answers", "names", "errors"])
def test_a_table_of_all_that_a_spy_brings_back_earns_nothing_new(released_course, spy: str, name: str) -> None:
    lesson = next(lesson for lesson, names in SPIED.items() if name in names)
    exercise = load_lesson(ROOT / "grader_tests" / lesson).exercises[name]
    seed = seed_of(lesson_seed(SEED, lesson), name)
    public = {key_of(p.case.inputs.values()) for p in practice_cases(exercise)}
    hidden = {key_of(p.case.inputs.values()) for p in prepare(exercise, seed)} - public
    found = loot(spy_on(released_course(lesson), lesson, name, spy.format(name=name)))

    def earned(known: set[str]) -> float:
        answer = {name: table(exercise, known)}
        return grade_in_process(exercise, answer, seed=seed, lenient=True).earned

    assert len(hidden) > 3
    assert not hidden & found
    assert earned(public | found) == earned(public)
    assert earned(public | hidden) > earned(public)  # so that a table of the hidden cases is worth something
