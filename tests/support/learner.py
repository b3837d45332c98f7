"""A learner who works in a plain Python process instead of a notebook."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest

from course.notebook.session import current
from course.report import MARKS

ROOT = Path(__file__).parents[2]
RIGHT = """
def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
"""
BEGIN = "import torch\nfrom course import begin, check, hint, progress\nbegin('02_softmax')\n"


class Learner:
    """Runs code in its own namespace, which `course` takes for a plain Python process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys
        self.names: dict[str, Any] = {"__name__": "__main__"}

    def run(self, code: str) -> str:
        """Run code and return what it printed."""
        self.capsys.readouterr()
        exec(compile(textwrap.dedent(code), "<learner>", "exec"), self.names)
        return self.capsys.readouterr().out

    def run_given(self, code: str) -> str:
        """Run code as a cell that came with the lesson; return what it printed, and the line below it."""
        stand_ins = current().stand_ins
        with stand_ins.given():
            stand_ins.try_used(code)
            printed = self.run(code)
        return printed + stand_ins.credit()

    def check(self, name: str, answer: Any = None) -> str:
        """Return the report on an exercise; `answer`, if given, is bound to its name first."""
        if answer is not None:
            self.names[name] = answer
        return self.run(f"points = check({name})")


def status_line(status: str, name: str = "softmax") -> str:
    """How a report with this status begins."""
    return f"{MARKS[status][0]} {name}: "
