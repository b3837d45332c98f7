"""Lines of code that no student may get: of a lesson's solutions and graders."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator

from grading.authoring.lesson_text import read_lesson
from grading.exercises.lesson import load_lesson

from .repository import ROOT

LONG = 30  # characters; shorter parts of a statement reveal nothing


def solution_lines(lesson: str) -> Iterator[str]:
    """Lines of its solutions and hidden tests."""
    for cell in read_lesson(ROOT / "source" / f"{lesson}.py").cells:
        marks = cell.metadata.get("nbgrader", {})
        inside = False
        for line in cell.source.splitlines():
            if "### END" in line:
                inside = False
            if inside and (marks.get("solution") or marks.get("grade")) and tells(line):
                yield line.strip()
            if "### BEGIN" in line:
                inside = True


def grader_lines(lesson: str) -> Iterator[str]:
    """Code of oracles, mistakes, alternatives and hidden cases, without docstrings."""
    for exercise in load_lesson(ROOT / "grader_tests" / lesson).all_exercises.values():
        draws = [
            inspect.getclosurevars(c.draw).nonlocals.get("make", c.draw) for c in exercise.criteria
        ]  # `sizes`: make
        code = [inspect.getsource(part) for part in (exercise.answer, *draws)]
        code += [answer.code for answer in (*exercise.alternatives, *exercise.reference_answers, *exercise.mistakes)]
        for line in "\n".join(code).splitlines():
            if tells(line) and not line.strip().startswith(("@", "def ", "class ", '"""')):
                yield line.strip()


def taught_lines(lesson: str) -> set[str]:
    """Lines that the lesson shows on purpose.

    They are in examples, diffs, demonstrations and given code.
    """
    text = "\n".join(cell.source for cell in read_lesson(ROOT / "source" / f"{lesson}.py").cells)
    shown = re.sub(r"### BEGIN (SOLUTION|HIDDEN TESTS).*?### END \1", "", text, flags=re.S)
    return {line.strip() for line in shown.splitlines()}


def tells(line: str) -> bool:
    """Whether only an answer would have this line.

    A single call or operator is vocabulary that lessons share.
    """
    line = re.sub(r"\s+#.*$", "", line.strip())
    if line.startswith(("#", "import ", "from ", "super().__init__")):
        return False
    try:
        tree = ast.parse(f"{line} pass" if line.endswith(":") else line)
    except SyntaxError:
        return len(line) >= LONG
    return sum(isinstance(node, (ast.Call, ast.BinOp, ast.Subscript)) for node in ast.walk(tree)) >= 2
