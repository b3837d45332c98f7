"""Run a lesson once, solved, and keep what its predictions and its experiment show where they are asked."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell

from grading.exercises.experiment import SOLUTION, load_experiment
from grading.exercises.prediction import load_predictions

from .run_notebook import run

RECORD = """
import contextlib, io, json
import course.notebook.predictions as of_course
from course.notebook.guess import as_text
from course.notebook.guess import judge
from course.notebook.session import current

KNOWN, SEEN, FOUND, SHOW = json.loads({known!r}), [], [], of_course.predict


def record(question, guess=..., result=of_course.NO_RESULT):
    names, known = dict(get_ipython().user_ns), KNOWN[question]
    seen = {{"name": question, "untouched": guess is ...}}
    try:
        current().stand_ins.try_used(known["proof"])
        seen["proof"] = bool(eval(known["proof"], names))
        given = result is not of_course.NO_RESULT
        if given and (known["kind"] != "choice" or as_text(result) in map(as_text, known["choices"])):
            seen["result"] = judge(known, result, names).right
        seen["answer"] = judge(known, known["answer"], names).right
    except Exception as error:
        seen["proof"] = f"{{type(error).__name__}}: {{error}}"
    SEEN.append(seen)
    SHOW(question, guess, result)


def find(code):
    import torch
    from course.notebook.experiment import experiment_report

    with current().stand_ins.given(), torch.random.fork_rng():  # steps are not written
        names = dict(get_ipython().user_ns)
        torch.manual_seed(0)
        with contextlib.redirect_stdout(io.StringIO()):
            exec(code, names)
    report = experiment_report(current(), names["finding"])
    return [report.status, report.headline, report.advice]


of_course.predict = record
"""
CHECK = 'check("experiment", finding)'
FIND = "FOUND += map(find, json.loads({codes!r}))"
PRINT = "print(json.dumps([SEEN, FOUND]))"


@dataclass
class SolvedRun:
    """A solved notebook that ran.

    notebook     with its outputs
    predictions  for each call of `predict`: its name, whether it is untouched, its proof true, and its answer and its
                 result right
    confirms     whether the solution of the experiment is what the graders expect; None without an experiment
    unlike       wrong findings of the graders that theirs do not show
    """

    notebook: nbformat.NotebookNode
    predictions: list[dict[str, Any]]
    confirms: bool | None
    unlike: list[str]


def run_solved(notebook: nbformat.NotebookNode, tests: Path, where: Path) -> SolvedRun:
    """Run a lesson's notebook with solutions in the folder `where`; `tests` is its folder in grader_tests."""
    predictions = {name: {**one.to_data(), "proof": one.proof} for name, one in load_predictions(tests).items()}
    experiment = load_experiment(tests)
    wrong = [one for one in experiment.get("wrong", ()) if SOLUTION in one]
    cells = [new_code_cell(RECORD.format(known=json.dumps(predictions)), id="record")]
    for cell in notebook.cells:
        cells.append(cell)
        if cell.cell_type == "code" and CHECK in cell.source:
            codes = [one[SOLUTION] for one in (experiment, *wrong)]
            cells.append(new_code_cell(FIND.format(codes=json.dumps(codes)), id="find"))
    notebook.cells = [*cells, new_code_cell(PRINT, id="print")]
    done = run(notebook, where)
    (printed,) = [output.text for output in done.cells[-1].outputs if output.get("name") == "stdout"]
    done.cells = [cell for cell in done.cells if cell.id not in ("record", "find", "print")]
    seen, found = json.loads(printed)
    (right, *others) = found or [None]
    unlike = [f"{one['text']}: {said}" for one, said in zip(wrong, others, strict=True) if said[2] != one["text"]]
    return SolvedRun(done, seen, right and right[0] == "passes", unlike)
