"""Run a lesson's solved text in a kernel, and evaluate the proof of each prediction where its call is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nbformat.v4 import new_code_cell

from grading.authoring.lesson_text import read_lesson
from grading.authoring.predictions import predict_calls
from grading.exercises.prediction import load_predictions

from .run_notebook import run

RECORD = """
import json
import course.notebook.predictions as of_course
from course.notebook.given_values import as_text
from course.notebook.guess import judge

KNOWN, SEEN = json.loads({known!r}), []


def record(question, guess=..., result=of_course.NO_RESULT):
    names, known = dict(get_ipython().user_ns), KNOWN[question]
    seen = {{"name": question, "untouched": guess is ...}}
    try:
        seen["proof"] = bool(eval(known["proof"], names))
        given = result is not of_course.NO_RESULT
        if given and (known["kind"] != "choice" or as_text(result) in map(as_text, known["choices"])):
            seen["result"] = judge(known, result, names).right
        seen["answer"] = judge(known, known["answer"], names).right
    except Exception as error:
        seen["proof"] = f"{{type(error).__name__}}: {{error}}"
    SEEN.append(seen)


of_course.predict = record
"""


def proved_predictions(source: Path, tests: Path, where: Path) -> list[dict[str, Any]]:
    """For each call of `predict`, its name and whether its proof is true and its result equals the answer.

    source, tests  the lesson's text and its folder in grader_tests
    where          the folder in which it runs

    The cells below the last call do not run, and neither do those that grade.
    """
    notebook = read_lesson(source)
    known = {name: {**one.to_data(), "proof": one.proof} for name, one in load_predictions(tests).items()}
    last = max(i for i, c in enumerate(notebook.cells) if c.cell_type == "code" and predict_calls(c.source))
    kept = [cell for cell in notebook.cells[: last + 1] if not cell.metadata.get("nbgrader", {}).get("grade")]
    record = new_code_cell(RECORD.format(known=json.dumps(known)), id="record")
    notebook.cells = [record, *kept, new_code_cell("print(json.dumps(SEEN))", id="seen")]
    (output,) = run(notebook, where).cells[-1].outputs
    found: list[dict[str, Any]] = json.loads(output.text)
    return found
