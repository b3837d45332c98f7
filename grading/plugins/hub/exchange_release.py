"""The exchange's `release_assignment`: the students' package goes along.

Students then fetch it with the notebook, whose first cell installs it without a network.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from nbgrader.exchange.default.release_assignment import ExchangeReleaseAssignment

from grading.authoring.student_install import SET_UP, delivery, origin, wheel_of


class ReleaseAssignment(ExchangeReleaseAssignment):
    """nbgrader's step for one assignment, with the wheel if its notebook installs one from its own folder."""

    def do_copy(self, src: str, dest: str, log: Any = None) -> None:
        super().do_copy(src, dest, log)
        where = origin(delivery(Path(self.coursedir.root)))
        if where.package != wheel_of(where.version) or not any(map(_has_setup_cell, Path(dest).glob("*.ipynb"))):
            return
        from grading.authoring.student_repo import make_wheel  # imports torch, which `grading watch` does not need

        with TemporaryDirectory(prefix="grading-") as made:
            shutil.copy(make_wheel(Path(made), {}, {}), dest)


def _has_setup_cell(notebook: Path) -> bool:
    return any(cell.get("id") == SET_UP for cell in nbformat.read(notebook, as_version=4).cells)
