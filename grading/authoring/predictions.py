"""Export a lesson's predictions and experiment, and compare them with the lesson's text.

The text calls `predict(name, ...)` in a code cell. The answers are in grader_tests/NN_lesson/predictions.toml.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from nbformat import NotebookNode

from ..errors import BuildError
from ..exercises.experiment import FILE as EXPERIMENT
from ..exercises.experiment import learners_part, load_experiment
from ..exercises.prediction import FILE as PREDICTIONS
from ..exercises.prediction import load_predictions


def prediction_data(tests: Path) -> bytes:
    """The answers to the calls of `predict`, as JSON; b"" if there are none."""
    data = {name: one.to_data() for name, one in load_predictions(tests).items()}
    return (json.dumps(data, ensure_ascii=False, indent=1) + "\n").encode() if data else b""


def experiment_data(tests: Path) -> bytes:
    """The right and the wrong findings of a lesson's experiment, as JSON; b"" if it has none."""
    data = load_experiment(tests)
    return (json.dumps(learners_part(data), ensure_ascii=False, indent=1) + "\n").encode() if data else b""


def check_predictions(notebook: NotebookNode, tests: Path) -> None:
    """Check that calls and entries match one to one, and that there is one experiment at most. Raises BuildError."""
    text, file = f"{tests.name}.py", f"grader_tests/{tests.name}/{PREDICTIONS}"
    known, calls = load_predictions(tests), Counter(predicted_names(notebook))
    for name, times in calls.items():
        if name not in known:
            raise BuildError(f'{text}: predict("{name}", …): {file} has no entry ["{name}"]. Add it')
        if times > 1:
            raise BuildError(f'{text}: {times} calls are predict("{name}", …). Give each prediction its own name')
    for name in known:
        if name not in calls:
            raise BuildError(
                f'{file}: ["{name}"]: {text} has no call predict("{name}", …). Add it, or remove the entry'
            )
    checks = 'check("experiment", ' in "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    if checks != bool(load_experiment(tests)):
        there = f'a call check("experiment", …), but grader_tests/{tests.name} has no {EXPERIMENT}'
        missing = f'no call check("experiment", …), but grader_tests/{tests.name} has {EXPERIMENT}'
        raise BuildError(f"{text} has {there if checks else missing}")


def predict_calls(code: str) -> list[ast.Call]:
    """The calls of `predict` in a cell whose first argument is a text."""
    try:
        nodes = list(ast.walk(ast.parse(re.sub(r"^[%!].*$", "", code, flags=re.MULTILINE))))
    except SyntaxError:
        return []
    calls = [n for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "predict"]
    return [call for call in calls if call.args and isinstance(call.args[0], ast.Constant)]


def predicted_names(notebook: NotebookNode) -> Iterator[str]:
    """The names of the predictions that a notebook asks for, in their order."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            yield from (str(call.args[0].value) for call in predict_calls(cell.source))  # type: ignore[attr-defined]
