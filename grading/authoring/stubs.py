"""Export the code that a lesson's notebook has before the learner writes an answer.

The buttons in JupyterLab put it back (`course/labextension`).
"""

from __future__ import annotations

import json
from pathlib import Path

from nbgrader.preprocessors import ClearSolutions

from ..course_dir.course_config import load_config
from ..exercises.lesson import load_lesson
from ..grader.cell_code import defines
from ..notebooks.cells import grade_id
from .lesson_text import read_lesson


def stub_data(root: Path, name: str) -> bytes:
    """The unanswered cell of each exercise and step of a lesson, as JSON; b"" if it has none."""
    clear = ClearSolutions(config=load_config(root))
    cells = [cell for cell in read_lesson(root / "source" / f"{name}.py").cells if cell.cell_type == "code"]
    stubs = {}
    for task in load_lesson(root / "grader_tests" / name).all_tasks:
        marked = next((cell for cell in cells if grade_id(cell) == task), None)
        if marked is not None:
            stubs[task] = clear.preprocess_cell(marked, {"language": "python"}, 0)[0].source
        elif plain := next((cell for cell in cells if not grade_id(cell) and defines(cell.source, task)), None):
            stubs[task] = plain.source
    return (json.dumps(stubs, ensure_ascii=False, indent=1) + "\n").encode() if stubs else b""
