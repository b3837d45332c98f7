"""Check whether a notebook is ready to hand in, and hand it in: submit it on a hub, and write the file to hand in.

Both read the saved file, not the kernel. Jupyter's server and VS Code tell the kernel the path of the file; otherwise
it is searched for in the folder, or requested from Colab.
"""

from __future__ import annotations

import ast
import json
import os
import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from ..report import display_markdown, in_notebook
from . import catalog, nbgrader_exchange, session
from .ipython_history import recent_cells

NONE_BEGUN = 'You have not started a lesson: call begin("02_softmax") first.'
READY = (
    "Ready to hand in? Yes: every cell is there exactly once, no cell ended in an error, and your latest answers are "
    "saved."
)
NEXT = " Next, run `course.hand_in()`."
SUBMITTED = (
    "**Submitted** to the course {course} at {time}. When the hub has graded it, press *Fetch Feedback* in "
    "*Assignments* (menu *Nbgrader*, *Assignment List*), and open the page. If you hand in again, the new submission "
    "replaces this one."
)
NOT_SUBMITTED = (
    "**Not submitted**, or not completely: `{error}`. No work is lost: your notebook is saved. Run `course.hand_in()` "
    "again, or press *Submit* in *Assignments*. If that fails too, tell your teacher, and send the file below."
)
FOLDER = "hand_in"
COLAB = "google.colab"
MAX_LISTED = 5  # problems of one kind that are listed


class NotFound(Exception):
    """No readable notebook file was found; the message says what to do."""


@dataclass
class SavedNotebook:
    """A notebook as saved in its file `name`, or as Colab holds it, without a path."""

    name: str
    content: dict[str, Any]
    path: Path | None = None

    @property
    def cells(self) -> list[dict[str, Any]]:
        cells: list[dict[str, Any]] = self.content["cells"]
        return cells


def hand_in() -> None:
    """Submit the notebook where nbgrader has an exchange; elsewhere offer the file to hand in. Never raises.

    The file is written in both cases.
    """
    lesson = session.current.lesson
    if lesson is None:
        print(NONE_BEGUN)
        return
    try:
        notebook = saved(lesson, session.current.names)
        path = write(notebook, lesson)
    except (NotFound, OSError) as error:
        print(f"Nothing was written: {error}")
        return
    display_markdown("\n\n".join(readiness(lesson)))
    submitted, outcome = _submit(notebook, lesson)
    kind = "a copy of what you submitted" if submitted else "the file to hand in"
    display_markdown("\n\n".join([*outcome, f"**`{path.as_posix()}`** is {kind}."]))
    if in_notebook() and not submitted:
        offer_download(path)


def _submit(notebook: SavedNotebook, lesson: str) -> tuple[bool, list[str]]:
    """Submit on a hub; returns whether it was done, and sentences about it, none where there is no exchange."""
    if notebook.path is None:
        return False, []
    try:
        done = nbgrader_exchange.submit(notebook.path, lesson, FOLDER)
    except nbgrader_exchange.NotSubmitted as error:
        return False, [NOT_SUBMITTED.format(error=str(error).replace("`", "'"))]
    if done is None:
        return False, []
    said = [SUBMITTED.format(course=done.course, time=re.sub(r"\.\d+", "", done.at))]
    if notebook.name != f"{lesson}.ipynb":
        said.append(f"Your notebook `{notebook.name}` was submitted under the name `{lesson}.ipynb`.")
    return True, said


def readiness(lesson: str, ready: str = READY) -> list[str]:
    """Say in sentences whether the notebook is ready to hand in; `ready` is the first one if it is."""
    exercises = catalog.exercises_of(lesson)
    try:
        notebook = saved(lesson, session.current.names)
    except NotFound as error:
        return [f"Ready to hand in? Unknown: {error}"]
    unwritten = [f"`{name}`" for name in exercises if not is_written(notebook, name)]
    found = problems(notebook, exercises)
    if unwritten and len(unwritten) == len(exercises):
        found.append("The saved notebook has no answers yet: write an answer, run its cell and save the notebook.")
    if found:
        return [f"Ready to hand in? No, not yet. {fault}" for fault in found]
    return [ready, *([f"Not written yet: {_join(unwritten)}."] if unwritten else [])]


def saved(lesson: str, names: Mapping[str, Any]) -> SavedNotebook:
    """Find the saved notebook of a lesson; `names` are the kernel's. Raises NotFound."""
    if COLAB in sys.modules:
        return SavedNotebook(f"{lesson}.ipynb", _from_colab())
    given = [names.get("__vsc_ipynb_file__"), os.environ.get("JPY_SESSION_NAME"), f"{lesson}.ipynb"]
    paths = [Path(path) for path in given if isinstance(path, str) and path.endswith(".ipynb")]
    for path in [*paths, *_copies(lesson)]:
        if path.is_file():
            return SavedNotebook(path.name, read(path), path)
    raise NotFound(f"the notebook's file was not found. Save it as {lesson}.ipynb in the folder where it runs.")


def problems(notebook: SavedNotebook, exercises: Iterable[str]) -> list[str]:
    """Return the reasons not to hand in a notebook yet, in sentences."""
    wanted = [marked for name in exercises for marked in (name, f"check_{name}")]
    found = Counter(_grade_id(cell) for cell in notebook.cells)
    missing = [_cell_name(cell_id) for cell_id in wanted if not found[cell_id]]
    doubled = [_cell_name(cell_id) for cell_id in wanted if found[cell_id] > 1]
    failed = [cell_start(cell) for cell in notebook.cells if _failed(cell)]
    unsaved = [f"`{name}`" for name in exercises if found[name] == 1 and _is_unsaved(notebook, name)]
    groups = (
        ("Missing", missing, "Copy what is missing from a fresh copy of the lesson."),
        ("More than one copy", doubled, "Keep one copy and delete the others."),
        ("Ended in an error in the saved notebook", failed, "Correct the code, run it again and save."),
        (
            "Not saved in the version that last ran",
            unsaved,
            "Save the notebook; if you changed the code since, run it first.",
        ),
    )
    return [f"{what}: {_join(which)}. {todo}" for what, which, todo in groups if which]


def is_written(notebook: SavedNotebook, name: str) -> bool:
    """Whether a cell has more than the stub of an exercise, right or wrong."""
    texts = [source(cell) for cell in notebook.cells if cell.get("cell_type") == "code" and name in source(cell)]
    return any(_answers(text, name) for text in texts)


def _answers(text: str, name: str) -> bool:
    """Whether code defines `name` as more than a stub.

    Code with a syntax error counts if it has the `def` line.
    """
    defines = _defines(name).search(text)
    try:
        with warnings.catch_warnings():  # about escapes such as "\d": Python has shown them where the cell ran
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return defines is not None
    nodes = list(ast.walk(tree))
    assigned = any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in nodes)
    bodies = [n for n in nodes if isinstance(n, (ast.FunctionDef, ast.ClassDef)) and n.name == name]
    return assigned or any(not _is_stub(body) for body in bodies)


def _is_stub(node: ast.AST) -> bool:
    """Whether a function or class is a stub.

    A stub always raises NotImplementedError or does nothing; a class is one if it has only such methods.
    """
    if isinstance(node, ast.ClassDef):
        return all(_is_stub(part) for part in node.body if isinstance(part, ast.FunctionDef))
    if isinstance(node, ast.FunctionDef):
        return all(map(_is_stub, node.body)) or any(_is_stub(part) for part in node.body if isinstance(part, ast.Raise))
    if isinstance(node, ast.Raise):
        return "NotImplementedError" in ast.unparse(node)
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def write(notebook: SavedNotebook, lesson: str) -> Path:
    """Write a notebook under the name to hand in, in its own folder; return the path."""
    path = Path(FOLDER) / f"{lesson}.ipynb"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(notebook.content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def offer_download(path: Path) -> None:
    """Offer a file for download: by the browser in Colab, by a link elsewhere."""
    if COLAB in sys.modules:
        sys.modules[COLAB].files.download(str(path))
    else:
        from IPython.display import FileLink, display

        display(FileLink(path.as_posix()))


def _from_colab() -> dict[str, Any]:
    message = import_module(f"{COLAB}._message")  # the only way to read the open notebook
    answer = message.blocking_request("get_ipynb", timeout_sec=30)
    if not isinstance(answer, dict) or not _is_notebook(answer.get("ipynb")):
        raise NotFound("Colab did not return the notebook: save it, then download it with File > Download.")
    found: dict[str, Any] = answer["ipynb"]
    return found


def _copies(lesson: str) -> list[Path]:
    """Notebooks here named like copies of the lesson, newest first."""
    found = [path for path in Path().glob("*.ipynb") if lesson in path.name]
    return sorted(found, key=lambda path: path.stat().st_mtime, reverse=True)


def read(path: Path) -> dict[str, Any]:
    """Read a notebook's content. Raises NotFound."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise NotFound(f"{path} cannot be read ({error}): save the notebook again.") from None
    if not _is_notebook(content):
        raise NotFound(f"{path} is not a notebook: save the notebook again.")
    found: dict[str, Any] = content
    return found


def _is_notebook(content: Any) -> bool:
    """Whether content has the parts of a notebook that are read here."""
    cells = content.get("cells") if isinstance(content, dict) else None
    return isinstance(cells, list) and all(
        isinstance(cell, dict)
        and isinstance(cell.get("metadata"), dict)
        and all(isinstance(output, dict) for output in cell.get("outputs") or ())
        for cell in cells
    )


def _grade_id(cell: Mapping[str, Any]) -> str:
    marks = cell["metadata"].get("nbgrader")
    return str(marks.get("grade_id", "")) if isinstance(marks, dict) else ""


def _cell_name(grade_id: str) -> str:
    name = grade_id.removeprefix("check_")
    return f"the cell `check({name})`" if name != grade_id else f"the cell of `{name}`"


def source(cell: Mapping[str, Any]) -> str:
    """The text of a cell, which files store as one string or as lines."""
    text = cell.get("source", "")
    return "".join(text) if isinstance(text, list) else str(text)


def cell_start(cell: Mapping[str, Any]) -> str:
    """A description of a cell by its first line."""
    return f"the cell that begins `{source(cell).strip().partition(chr(10))[0][:60].replace('`', '')}`"


def _failed(cell: Mapping[str, Any]) -> bool:
    return any(output.get("output_type") == "error" for output in cell.get("outputs") or ())


def _is_unsaved(notebook: SavedNotebook, name: str) -> bool:
    """Whether the last cell that ran and defines `name` is missing in the file."""
    ran = next((cell for cell in recent_cells() if _defines(name).search(cell)), None)
    return ran is not None and ran.strip() not in {source(cell).strip() for cell in notebook.cells}


def _defines(name: str) -> re.Pattern[str]:
    return re.compile(rf"^(?:async\s+)?(?:def|class)\s+{name}\b", re.MULTILINE)


def _join(parts: list[str]) -> str:
    cut = parts if len(parts) <= MAX_LISTED else [*parts[:MAX_LISTED], f"{len(parts) - MAX_LISTED} more"]
    return cut[0] if len(cut) == 1 else f"{', '.join(cut[:-1])} and {cut[-1]}"
