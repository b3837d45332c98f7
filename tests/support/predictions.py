"""Run a lesson's solved text in a kernel, and prove its predictions and its experiment where they are."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nbformat.v4 import new_code_cell

from grading.authoring.lesson_text import read_lesson
from grading.authoring.predictions import predict_calls
from grading.exercises.experiment import SOLUTION, load_experiment
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
    known = {name: {**one.to_data(), "proof": one.proof} for name, one in load_predictions(tests).items()}
    before, after = RECORD.format(known=json.dumps(known)), "print(json.dumps(SEEN))"
    found: list[dict[str, Any]] = json.loads(_printed(source, where, predict_calls, before, after))
    return found


CHECK = 'check("experiment", finding)'
FOUND = """
import contextlib, io, json
import torch
from course.notebook.experiment import experiment_report

SAID = []
for code in json.loads({codes!r}):
    names = dict(get_ipython().user_ns)
    torch.manual_seed(0)
    with contextlib.redirect_stdout(io.StringIO()):
        exec(code, names)
    report = experiment_report(names["finding"])
    SAID.append([report.status, report.headline, report.advice])
print(json.dumps(SAID))
"""


def proved_experiment(source: Path, tests: Path, where: Path) -> tuple[bool, list[str]]:
    """Whether the solution of the experiment confirms, and which wrong findings are not what theirs makes.

    The arguments are those of `proved_predictions`.
    """
    known = load_experiment(tests)
    wrong = [one for one in known["wrong"] if SOLUTION in one]
    codes = [one[SOLUTION] for one in (known, *wrong)]
    last = FOUND.format(codes=json.dumps(codes))
    right, *others = json.loads(_printed(source, where, lambda code: CHECK in code, "", last))
    unlike = [f"{one['text']}: {said}" for one, said in zip(wrong, others, strict=True) if said[2] != one["text"]]
    return right[0] == "passes", unlike


def _printed(source: Path, where: Path, is_last: Callable[[str], Any], before: str, after: str) -> str:
    """What the code `after` prints below the last cell that `is_last` names; cells that grade do not run."""
    notebook = read_lesson(source)
    last = max(i for i, c in enumerate(notebook.cells) if c.cell_type == "code" and is_last(c.source))
    kept = [cell for cell in notebook.cells[: last + 1] if not cell.metadata.get("nbgrader", {}).get("grade")]
    notebook.cells = [new_code_cell(before, id="before"), *kept, new_code_cell(after, id="after")]
    outputs = run(notebook, where).cells[-1].outputs
    return "".join(output.text for output in outputs if output.get("name") == "stdout")  # a warning may be there, too
