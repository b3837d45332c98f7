"""A learner in a plain process, and what they write: for tests of several subjects (conftest.py)."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest

from course.report import MARKS

ROOT = Path(__file__).parents[2]
RIGHT = """
def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
"""
BEGIN = "import torch\nfrom course import begin, check, hint, progress, use\nbegin('02_softmax')\n"


class Learner:
    """A plain Python process as far as `course` can tell: code runs in a namespace of its own."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys
        self.names: dict[str, Any] = {"__name__": "__main__"}

    def run(self, code: str) -> str:
        """Run code; returns what it printed."""
        self.capsys.readouterr()
        exec(compile(textwrap.dedent(code), "<learner>", "exec"), self.names)
        return self.capsys.readouterr().out

    def check(self, name: str, answer: Any = None) -> str:
        """The report on an exercise; `answer`, if given, is bound to its name first."""
        if answer is not None:
            self.names[name] = answer
        return self.run(f"points = check({name})")


def head(status: str) -> str:
    mark, word, _ = MARKS[status]
    return f"{mark} {word}: "
