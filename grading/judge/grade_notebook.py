"""One submission, from the bytes of its file to its verdicts: what a judge does.

It reads the notebook, puts it in order and hands back at once what is harmless of it; then it runs the cells in a
kernel and hands back what each gave, cleaned, and each verdict as soon as there is one. So what was judged before a
judge ends counts. nbgrader and the gradebook have no part in it: what the gradebook says of the lesson comes with the
request.

Does not cover: what a judge may use (`confine`), who it answers to (`client`).
"""

from __future__ import annotations

import copy
import json
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from jupyter_client.manager import KernelManager
from jupyter_client.provisioning import KernelProvisionerFactory
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from grading.course_dir.seeds import seed_of
from grading.exercises.exercise import Exercise
from grading.exercises.lesson import Lesson, load_lesson
from grading.grader import codec
from grading.grader.cell_code import parse, same_code
from grading.grader.references import known_mistakes, programs
from grading.grader.source_analysis import NotebookSource
from grading.grader.verdict import ExerciseVerdict, needs_a_person
from grading.notebooks.cells import RECORD, check_call, exercise_of, visible
from grading.notebooks.verdict_cell import is_autograded, nbgrader_metadata, points_of

from ..notebooks.reading import read_submission
from ..notebooks.released import ReleasedNotebook
from ..notebooks.repair import repair
from ..notebooks.sanitize import OutputBudget, clean, clean_run
from .kernel.run import NotebookRun
from .kernel.session import Limits, Session
from .missing_answer import explain_syntax_error, find_misnamed_answer, unreadable_verdict

SANDBOX = "attention-sandbox"
_DRAWS = re.compile(r"\b(?:plt|pyplot|pylab|matplotlib|figures|sliders|interactive)\b")


def warm(about: dict[str, Any]) -> None:
    """Compute once for many submissions what judging takes.

    about  `graders`: the lesson's folder; `seed`: the lesson's; `device`: the one that answers are judged on;
           `mistaken`: exercises whose known mistakes will be asked for
    """
    _rehearse()
    torch.set_num_threads(1)  # references are small, and threads that wait for a busy machine take ten times longer
    graders = Path(about["graders"])
    for cell in _own_code(graders.parents[1], graders.name):
        parse("".join(cell["source"]))  # kept, for the students' own cells are mostly these
    lesson = load_lesson(graders)
    for exercise in lesson.exercises.values():
        seed = seed_of(about["seed"], exercise.name)
        codec.request(programs(exercise, seed, about["device"]))
        if exercise.name in about["mistaken"]:
            known_mistakes(exercise, seed)


@lru_cache(maxsize=1)
def _rehearse() -> None:
    """Have libraries do what they put off to their first use: a fifth of a judge's time, were each to do it again."""
    nb = new_notebook(cells=[new_markdown_cell("*a* $b$"), new_code_cell("1")])
    nb.cells[1].outputs = [new_output("stream", text="1"), new_output("display_data", data={"text/html": "<b>1</b>"})]
    clean(nb)
    for name in ("grading.judge.confinement", "grading.sandbox.provisioner"):
        with suppress(ImportError):  # elsewhere than Linux there is no sandbox
            import_module(name)
    KernelProvisionerFactory.instance()
    _ = KernelManager(kernel_name="python3").kernel_spec


@dataclass
class CourseFiles:
    """What is of the course, not of the student.

    directory   the kernel's files: the release's, never the submission's own
    given       texts of the lesson's own cells that run; demos: of those that do not, since a picture that the student
                left as it was need not be drawn again
    """

    directory: Path
    given: set[str] = field(default_factory=set)
    demos: set[str] = field(default_factory=set)


def prepare(request: dict[str, Any], place: Path) -> CourseFiles:
    """What is read of the course, into the empty directory `place`, while the judge may still read all of it."""
    root, name = Path(request["root"]), request["lesson"]
    ready = CourseFiles(place / "files")
    release = root / "release" / name
    if release.is_dir():
        shutil.copytree(release, ready.directory, ignore=shutil.ignore_patterns("*.ipynb", ".*"))
    else:
        ready.directory.mkdir()
    ready.directory.chmod(0o755)
    for cell in _own_code(root, name):
        if not nbgrader_metadata(cell).get("solution"):
            own = ready.demos if "demo" in cell["metadata"].get("tags", []) else ready.given
            own.add("".join(cell["source"]).strip())
    ready.given -= ready.demos
    return ready


def _own_code(root: Path, name: str) -> list[dict[str, Any]]:
    """The code cells of the lesson as its author has them; none where they are not at hand."""
    lesson = root / "source" / name / f"{name}.ipynb"
    cells = json.loads(lesson.read_text(encoding="utf-8"))["cells"] if lesson.exists() else []
    return [cell for cell in cells if cell["cell_type"] == "code"]


def run(request: dict[str, Any], data: bytes, ready: CourseFiles) -> Iterator[dict[str, Any]]:
    """Messages: {"notebook": …}; then for each code cell {"cell": its id}, with "outputs" and "count", or "verdict".

    request  `root`, `lesson`; `graders`, `seed`, `device`, `sandboxed`; `limits` of the sandbox, `cell_seconds` and
             `notebook_seconds`; `released`: the lesson as it was released, as JSON
    """
    released = ReleasedNotebook.from_json(request["released"])
    nb = read_submission(data)
    repair(nb, released)
    cells = [copy.copy(cell) for cell in nb.cells if cell.cell_type == "code"]  # whole, since they are to run
    rooms = OutputBudget()
    clean(nb, {cell.source for cell in released.order if cell.cell_type == "markdown"}, rooms)
    yield {"notebook": nb}
    if "unreadable" not in nb.metadata[RECORD]:
        yield from _judged(request, cells, ready, rooms)


def _judged(
    request: dict[str, Any], cells: list[NotebookNode], ready: CourseFiles, rooms: OutputBudget
) -> Iterator[dict[str, Any]]:
    lesson = load_lesson(Path(request["graders"]))
    provisioning: dict[str, Any] = {"provisioner_name": "local-provisioner", "config": {}}
    if request["sandboxed"]:
        about = {"device": request["device"], "hidden": [request["root"]], "lesson": request["lesson"]}
        config = {**about, "draws": likely_to_draw(cells, ready), **request["limits"]}
        provisioning = {"provisioner_name": SANDBOX, "config": config}
    # Of a sandboxed kernel the specification is not used, and the user's own are out of sight
    kernel = "python3" if request["sandboxed"] else request["released"]["kernelspec"].get("name", "python3")
    judged: list[tuple[Exercise, ExerciseVerdict]] = []
    with Session(kernel, provisioning, ready.directory, Limits(cell=request["cell_seconds"])) as session:
        run = NotebookRun(session, request["notebook_seconds"], ready.given)
        for cell in cells:
            if is_autograded(cell):
                verdict = _judge(cell, lesson, run, judged, request)
                verdict.sandboxed = request["sandboxed"]
                yield {"cell": cell.id, "verdict": verdict.to_json()}
            elif cell.source.strip() not in ready.demos:
                run.cell(cell)
                clean_run(cell, rooms)
                yield {"cell": cell.id, "outputs": cell.outputs, "count": cell.execution_count}


def likely_to_draw(cells: list[NotebookNode], ready: CourseFiles) -> bool:
    """Whether a cell of the student's own, or one of the lesson's that they changed, speaks of pictures."""
    own = (cell.source for cell in cells if cell.source.strip() not in ready.given | ready.demos)
    return any(map(_DRAWS.search, own))


def _judge(
    cell: NotebookNode,
    lesson: Lesson,
    run: NotebookRun,
    judged: list[tuple[Exercise, ExerciseVerdict]],
    request: dict[str, Any],
) -> ExerciseVerdict:
    exercise = lesson.exercises.get(exercise_of(cell))
    if exercise is None:
        return needs_a_person(exercise_of(cell), points_of(cell), f"grader_tests/{lesson.name} does not have it")
    shown = visible(cell.source).strip()
    if not same_code(shown, check_call(exercise.name)):  # what `check` itself shows would be replaced
        run.code(shown, given=True)
    source = NotebookSource([ran.code for ran in run.cells], lesson.exercises)
    seed = seed_of(request["seed"], exercise.name)
    settings = {"seed": seed, "device": request["device"], "earlier": judged}
    verdict = run.judge(exercise, source, **settings)
    if verdict.status == "not started":
        verdict = _recover_missing_answer(exercise, lesson, run, verdict, settings)
    judged.append((exercise, verdict))
    return verdict


def _recover_missing_answer(
    exercise: Exercise, lesson: Lesson, run: NotebookRun, verdict: ExerciseVerdict, settings: dict[str, Any]
) -> ExerciseVerdict:
    """The verdict on an answer that the kernel does not have under its name: one with another, or one unread."""
    own = [cell.code for cell in run.cells if not cell.from_lesson]
    if other := find_misnamed_answer(own, exercise.name, lesson.exercises):
        run.code(f"{exercise.name} = {other}")
        source = NotebookSource([ran.code for ran in run.cells], lesson.exercises)
        verdict = run.judge(exercise, source, **settings)
        verdict.notes.append(f"Your answer is called `{other}`, and was judged as `{exercise.name}`: call it that.")
        return verdict
    why = explain_syntax_error(own, exercise.name)
    return unreadable_verdict(verdict, why) if why else verdict
