"""Damage that students and their editors do to a notebook: `MANGLES`, by name."""

from __future__ import annotations

import contextlib
import copy
import random
from collections.abc import Callable
from typing import Any

import nbformat

from grading.grader.cell_code import parse
from grading.notebooks.cells import RECORD

from .two_exercise_course import DOUBLE, HALVE

ANSWERS = {"double": DOUBLE, "halve": HALVE}


def cell_of(notebook: Any, name: str) -> Any:
    """The cell with this id."""
    return next(cell for cell in notebook["cells"] if cell.get("id") == name)


# One thing that happens to a notebook each; a mangle changes the notebook in place.

Mangle = Callable[[dict[str, Any], random.Random], None]
MANGLES: dict[str, Mangle] = {}


def mangle(function: Mangle) -> Mangle:
    def run(notebook: dict[str, Any], rng: random.Random) -> None:
        with contextlib.suppress(StopIteration):  # an earlier mangle took the cell away
            function(notebook, rng)

    MANGLES[function.__name__] = run
    return run


def still_there(notebook: dict[str, Any]) -> set[str]:
    """Exercises with an answer somewhere in the notebook, in a cell that Python can parse."""
    sources = [cell["source"] for cell in notebook["cells"] if parse(cell["source"])]
    return {n for n in ANSWERS if any(f"def {n}(" in source for source in sources)}


def pick(rng: random.Random) -> str:
    return rng.choice(["double", "halve"])


def place(notebook: Any, name: str) -> int:
    return notebook["cells"].index(cell_of(notebook, name))


@mangle
def check_deleted(notebook, rng):
    notebook["cells"].remove(cell_of(notebook, f"check_{pick(rng)}"))


@mangle
def answer_deleted(notebook, rng):
    notebook["cells"].remove(cell_of(notebook, pick(rng)))


@mangle
def check_moved_to_the_top(notebook, rng):
    cell = cell_of(notebook, f"check_{pick(rng)}")
    notebook["cells"].remove(cell)
    notebook["cells"].insert(0, cell)


@mangle
def answer_moved_to_the_end(notebook, rng):
    cell = cell_of(notebook, pick(rng))
    notebook["cells"].remove(cell)
    notebook["cells"].append(cell)


@mangle
def check_merged_into_answer(notebook, rng):
    name = pick(rng)
    check = cell_of(notebook, f"check_{name}")
    cell_of(notebook, name)["source"] += "\n\n" + check["source"]
    notebook["cells"].remove(check)


@mangle
def answer_merged_into_check(notebook, rng):
    name = pick(rng)
    answer, check = cell_of(notebook, name), cell_of(notebook, f"check_{name}")
    check["source"] = answer["source"] + "\n\n" + check["source"]
    notebook["cells"].remove(answer)


@mangle
def second_answer_merged_into_first(notebook, rng):
    second = cell_of(notebook, "halve")
    cell_of(notebook, "double")["source"] += "\n\n" + second["source"]
    notebook["cells"].remove(second)


@mangle
def answer_split_above_its_definition(notebook, rng):
    """Split a cell as JupyterLab does: both halves keep the metadata, one gets a new id."""
    cell = cell_of(notebook, pick(rng))
    half = copy.deepcopy(cell) | {"id": "half", "source": "import math"}
    notebook["cells"].insert(place(notebook, cell["id"]), half)


@mangle
def answer_split_below_its_definition(notebook, rng):
    cell = cell_of(notebook, pick(rng))
    half = copy.deepcopy(cell) | {"id": "half", "source": "print('done')"}
    notebook["cells"].insert(place(notebook, cell["id"]) + 1, half)


@mangle
def answer_moved_out_of_its_cell(notebook, rng):
    cell = cell_of(notebook, pick(rng))
    own = dict(nbformat.v4.new_code_cell(cell["source"]))
    cell["source"] = rng.choice(["", "# see below", "pass"])
    notebook["cells"].insert(place(notebook, cell["id"]) + rng.randint(0, 3), own)


@mangle
def answer_copied(notebook, rng):
    cell = copy.deepcopy(cell_of(notebook, pick(rng)))
    notebook["cells"].insert(place(notebook, cell["id"]) + rng.randint(0, 1), cell)


@mangle
def check_copied(notebook, rng):
    cell = copy.deepcopy(cell_of(notebook, f"check_{pick(rng)}"))
    notebook["cells"].insert(rng.randrange(len(notebook["cells"])), cell)


@mangle
def whole_notebook_doubled(notebook, rng):
    notebook["cells"] += copy.deepcopy(notebook["cells"])


@mangle
def answer_turned_to_text(notebook, rng):
    cell = cell_of(notebook, pick(rng))
    cell["cell_type"] = rng.choice(["markdown", "raw"])


@mangle
def check_turned_to_text(notebook, rng):
    cell = cell_of(notebook, f"check_{pick(rng)}")
    cell["cell_type"] = rng.choice(["markdown", "raw"])


@mangle
def tags_that_hide_or_skip(notebook, rng):
    tags = ["skip-execution", "raises-exception", "hide-input", "remove-cell", "picture"]
    for cell in notebook["cells"]:
        cell["metadata"]["tags"] = rng.sample(tags, 2)


@mangle
def check_edited(notebook, rng):
    cell = cell_of(notebook, f"check_{pick(rng)}")
    cell["source"] = rng.choice(["5.0", "", "check(", "import math\nprint(1)", "raise SystemExit"])


@mangle
def marks_lost(notebook, rng):
    for cell in notebook["cells"]:
        cell["metadata"] = {}


@mangle
def marks_and_ids_lost(notebook, rng):
    notebook["nbformat_minor"] = 0
    for cell in notebook["cells"]:
        cell["metadata"] = {}
        cell.pop("id", None)


@mangle
def marks_forged(notebook, rng):
    for name in ("double", "check_double", "halve", "check_halve"):
        marks = cell_of(notebook, name)["metadata"]["nbgrader"] = {"grade_id": name}
        marks |= {"points": 1000, "grade": True, "solution": True, "schema_version": 99}
        marks |= {"checksum": "0" * 32, "extra": [1], "locked": False}


@mangle
def marks_malformed(notebook, rng):
    junk = ["yes", 3, [], {"grade_id": 7}, {"grade_id": None, "grade": True}, {"grade_id": ["a"]}]
    for cell in notebook["cells"]:
        if rng.random() < 0.5:
            cell["metadata"]["nbgrader"] = rng.choice(junk)


@mangle
def unknown_marks(notebook, rng):
    marks = {"grade": True, "solution": False, "locked": True, "grade_id": "bonus", "points": 50}
    cell = nbformat.v4.new_code_cell("50.0", metadata={"nbgrader": {**marks, "schema_version": 3}})
    notebook["cells"].insert(rng.randrange(len(notebook["cells"])), dict(cell))


@mangle
def colab_metadata(notebook, rng):
    notebook["nbformat_minor"] = 0
    notebook["metadata"] |= {"colab": {"provenance": []}, "widgets": {"application/x": {"a": {}}}}
    notebook["metadata"] |= {"accelerator": "GPU", "language": 3, "title": ["x"]}
    for cell in notebook["cells"]:
        cell["metadata"] |= {"id": cell.get("id", "x"), "outputId": "9", "colab": {}}
        if cell["cell_type"] == "code":
            cell["execution_count"] = rng.choice([None, 3, -1, "7"])
            cell["outputs"] = [{"output_type": "nonsense"}, 7]


@mangle
def another_language(notebook, rng):
    spec = {"display_name": "Julia", "language": "julia", "name": "julia-1.9"}
    notebook["metadata"] |= {"kernelspec": spec, "language_info": {"name": "julia"}}


@mangle
def cell_metadata_malformed(notebook, rng):
    for cell in notebook["cells"]:
        cell["metadata"] |= {"collapsed": "yes", "tags": rng.choice([3, "picture", [1, 2], None])}
        cell["metadata"] |= {"execution": 4, "jupyter": "x", "name": 3}
        if cell["cell_type"] == "markdown":
            cell["attachments"] = rng.choice([{"a.png": {"image/png": 3}}, [], {"a": "b"}])


@mangle
def forged_record(notebook, rng):
    notebook["metadata"][RECORD] = {"unreadable": "please give points", "repairs": 7}


@mangle
def own_cells(notebook, rng):
    for number in range(3):
        cell = dict(nbformat.v4.new_code_cell(f"kept_{number} = {number}"))
        notebook["cells"].insert(rng.randrange(len(notebook["cells"])), cell)


@mangle
def hidden_test_markers_in_own_cell(notebook, rng):
    notebook["cells"].append(dict(nbformat.v4.new_code_cell("### BEGIN HIDDEN TESTS\n1\n")))


@mangle
def release_cell_ids_on_other_cells(notebook, rng):
    cell_of(notebook, "own")["id"] = "check-halve"
