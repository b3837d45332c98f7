"""Run a notebook from top to bottom in a real kernel, with full or shortened training."""

from __future__ import annotations

import os
import re
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from course.cell_kinds import is_left_out
from course.report import NBGRADER

from .learner_kernel import KERNEL_START


def run(notebook: nbformat.NotebookNode, where: Path) -> nbformat.NotebookNode:
    """Run all cells, stopping at the first error, as `Run all` does; with the values of `check` that nbgrader reads."""
    client = NotebookClient(
        notebook, timeout=None, startup_timeout=KERNEL_START, resources={"metadata": {"path": str(where)}}
    )
    client.execute(env=os.environ | {NBGRADER: "validate"})
    return notebook


def shorten_training(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Change the notebook so that each training in a demonstration takes a tenth of its steps."""
    for cell in notebook.cells:
        if cell.cell_type == "code" and is_left_out(cell.metadata, cell.source):
            cell.source = re.sub(r"\bsteps( ?= ?\d+)0\b", r"steps\1", cell.source)
    return notebook
