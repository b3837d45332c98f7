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
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from ..report import display_markdown, in_notebook
from ..which_counts import rank
from . import catalog, nbgrader_exchange
from .check_run import passes_examples
from .saved_notebook import (
    FOLDER,
    NotFound,
    SavedNotebook,
    cell_start,
    full_cell,
    grade_id,
    has_def_line,
    is_notebook,
    parse,
    ran_last,
    read,
    source,
    versions_of,
)
from .session import Session, current

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
NOT_SUBMITTED = "**Not submitted**, or not completely: `{error}`. No work is lost: your notebook is saved. {remedy}"
OR_ELSE = "{} If that fails too, tell your teacher, and send the file below."
TELL = "Tell your teacher, and send the file below."
BROKEN = (
    "`{0}` passed before, but the version that ran last does not, and the grade takes the notebook as it is. Run "
    "`check({0})`."
)
NAME_IT = "Run `course.hand_in({})`, with the name of the notebook that you work in."
SHUT = "Make room, or copy the notebook into a folder of your own, open it there, and run `course.hand_in()` again."
COLAB = "google.colab"
MAX_LISTED = 5  # problems of one kind that are listed


class WouldBeLost(Exception):
    """The file to hand in has answers that the notebook does not have; the message says what to do."""


def hand_in(file: str = "") -> None:
    """Submit the notebook where nbgrader has an exchange; elsewhere offer the file to hand in. Never raises.

    The file is written in both cases.

    file  the notebook's name, needed after it was renamed, or beside another with the name of the lesson
    """
    session = current()
    lesson = session.lesson
    if lesson is None:
        print(NONE_BEGUN)
        return
    session.file = file or session.file
    try:
        notebook = saved(session, lesson)
        path = write(notebook, lesson)
    except (NotFound, WouldBeLost) as error:
        print(f"Nothing was written: {error}")
        return
    except OSError as error:
        print(f"Nothing was written: {Path(FOLDER).absolute()} cannot be written ({error.strerror}). {SHUT}")
        return
    display_markdown("\n\n".join(readiness(session, lesson)))
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
        reason = str(error).replace("`", "'")
        remedy = OR_ELSE.format(error.remedy) if error.remedy else TELL
        return False, [NOT_SUBMITTED.format(error=reason, remedy=remedy)]
    if done is None:
        return False, []
    said = [SUBMITTED.format(course=done.course, time=re.sub(r"\.\d+", "", done.at))]
    if notebook.name != f"{lesson}.ipynb":
        said.append(f"Your notebook `{notebook.name}` was submitted under the name `{lesson}.ipynb`.")
    return True, said


def readiness(session: Session, lesson: str, ready: str = READY) -> list[str]:
    """Say in sentences whether the notebook is ready to hand in; `ready` is the first one if it is."""
    exercises = catalog.exercises_of(lesson)
    try:
        notebook = saved(session, lesson)
    except NotFound as error:
        return [f"Ready to hand in? Unknown: {error}"]
    stubs = catalog.stubs_of(lesson)
    unwritten = [name for name in exercises if not is_written(notebook, name, stubs)]
    full = {name: why for name in unwritten if (why := _full_cell(notebook, name, stubs))}
    unwritten = [f"`{name}`" for name in unwritten if name not in full]
    several = version_sentences(notebook, lesson)
    found = [*problems(notebook, exercises), *full.values(), *(problem for problem, _ in several if problem)]
    found += [BROKEN.format(name) for name in exercises if _is_broken(session, lesson, name)]
    if unwritten and len(unwritten) == len(exercises):
        found.append("The saved notebook has no answers yet: write an answer, run its cell and save the notebook.")
    if found:
        return [f"Ready to hand in? No, not yet. {fault}" for fault in found]
    notes = [note for _, note in several if note]
    return [ready, *notes, *([f"Not written yet: {_join(unwritten)}."] if unwritten else [])]


def _is_broken(session: Session, lesson: str, name: str) -> bool:
    """Whether an exercise has passed, and the learner's function does not any more."""
    f = session.names.get(name)
    written = f is not None and not str(getattr(f, "__module__", "")).startswith("course.")
    if not written or session.store.get(lesson, name).status != "passes":
        return False
    of, shown = session.last.get(name, (None, None))
    if shown and of is f:
        return shown.status != "passes"
    try:
        with session.stand_ins.closed():
            return not passes_examples(session, f, name)
    except Exception:
        return False


def version_sentences(notebook: SavedNotebook, lesson: str) -> list[tuple[str, str]]:
    """`Versions.sentences` of each exercise that has an answer."""
    stubs = catalog.stubs_of(lesson)
    found = (versions_of(notebook.cells, name, stubs.get(name, "")) for name in catalog.exercises_of(lesson))
    return [versions.sentences(notebook.starts) for versions in found if versions is not None]


def version_note(session: Session, name: str) -> str:
    """Say that the version of an answer that ran last is not the one that the grade takes; "" as far as is known.

    Reads the saved notebook, but does not request it from Colab, which takes seconds.
    """
    lesson = session.lesson
    if lesson is None or not in_notebook() or COLAB in sys.modules or (ran := ran_last(name)) is None:
        return ""
    try:
        notebook, stub = saved(session, lesson), catalog.stubs_of(lesson).get(name, "")
    except (NotFound, ValueError):
        return ""
    versions = versions_of(notebook.cells, name, stub)
    same = [n for n, cell in enumerate(notebook.cells) if source(cell).strip() == ran.strip()]
    if versions is None or not same or versions.counts in same:
        return ""
    problem, note = versions.sentences(notebook.starts)
    return f"This check is of the version that ran last. {problem or note}"


def full_cell_note(session: Session, name: str) -> str:
    """Why an answer that the kernel has not is not "not started": something was written into its cell.

    The cell is the last one that ran and defines the answer, or else the saved one; "" if it is unchanged, or unknown.
    """
    lesson, ran = session.lesson, ran_last(name)
    if lesson is None or not in_notebook():
        return ""
    try:
        stubs = catalog.stubs_of(lesson)
        if ran is not None or COLAB in sys.modules:
            return full_cell(ran or "", stubs.get(name, ""), name)
        notebook = saved(session, lesson)
    except (NotFound, ValueError):
        return ""
    return "" if is_written(notebook, name, stubs) else _full_cell(notebook, name, stubs)


def _full_cell(notebook: SavedNotebook, name: str, stubs: Mapping[str, str]) -> str:
    texts = [source(cell) for cell in notebook.cells if grade_id(cell) == name]
    return full_cell(texts[0], stubs.get(name, ""), name) if texts else ""


def saved(session: Session, lesson: str) -> SavedNotebook:
    """Find the saved notebook of a lesson. Raises NotFound.

    A front end tells the kernel the notebook's path when it starts it, and not when the notebook is renamed. Then, and
    where several notebooks have the lesson's name, it is not guessed which one is open.
    """
    if COLAB in sys.modules:
        return SavedNotebook(f"{lesson}.ipynb", _from_colab())
    here = sorted(path.name for path in Path().glob("*.ipynb"))
    given = [session.file, session.names.get("__vsc_ipynb_file__"), os.environ.get("JPY_SESSION_NAME")]
    told = next((Path(path) for path in given if isinstance(path, str) and path.endswith(".ipynb")), None)
    if told:
        paths = [path for path in (told, Path(told.name)) if path.is_file()]  # it may be relative to another folder
        if not paths:
            names_here = f"Here {'is' if len(here) == 1 else 'are'} {_join(here)}. " if here else ""
            gone = f"there is no {told.name} any more. Was it renamed or moved?"
            name = _quoted(here[0] if len(here) == 1 else "NAME.ipynb")
            raise NotFound(f"{gone} {names_here}{NAME_IT.format(name)} If it is in another folder, write its path.")
    else:
        paths = [Path(name) for name in here if (found := rank((name,), [lesson])) and found[1].by_name]
        if len(paths) > 1:
            several = _join([path.name for path in paths])
            name = _quoted(paths[0].name)
            raise NotFound(f"several notebooks have the name of the lesson: {several}. {NAME_IT.format(name)}")
    if not paths:
        raise NotFound(f"the notebook's file was not found. Save it as {lesson}.ipynb in the folder where it runs.")
    return SavedNotebook(paths[0].name, read(paths[0]), paths[0])


def problems(notebook: SavedNotebook, exercises: Iterable[str]) -> list[str]:
    """Return the reasons not to hand in a notebook yet, in sentences."""
    wanted = [marked for name in exercises for marked in (name, f"check_{name}")]
    found = Counter(grade_id(cell) for cell in notebook.cells)
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


def is_written(notebook: SavedNotebook, name: str, stubs: Mapping[str, str]) -> bool:
    """Whether a cell has more than the stub of an exercise, right or wrong."""
    texts = [source(cell) for cell in notebook.cells if cell.get("cell_type") == "code" and name in source(cell)]
    return any(_answers(text, name, stubs.get(name, "")) for text in texts)


def _answers(text: str, name: str, stub: str) -> bool:
    """Whether code defines `name` as more than its stub, of which a class may have whole methods.

    Code with a syntax error counts if it has the `def` line.
    """
    tree = parse(text)
    if tree is None:
        return has_def_line(text, name)
    assigned = any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in ast.walk(tree))
    given = [ast.dump(body) for body in _definitions(parse(stub), name)]
    return assigned or any(not _is_stub(body) and ast.dump(body) not in given for body in _definitions(tree, name))


def _definitions(tree: ast.Module | None, name: str) -> list[ast.FunctionDef | ast.ClassDef]:
    nodes = ast.walk(tree) if tree else ()
    return [node for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name]


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
    """Write a notebook under the name to hand in, in its own folder; return the path.

    Raises OSError, and WouldBeLost instead of replacing answers by a notebook without them.
    """
    path = Path(FOLDER) / f"{lesson}.ipynb"
    path.parent.mkdir(exist_ok=True)
    with suppress(NotFound):
        there = SavedNotebook(path.name, read(path))
        stubs = catalog.stubs_of(lesson)
        exercises = [name for name in catalog.exercises_of(lesson) if not is_written(notebook, name, stubs)]
        if lost := [f"`{name}`" for name in exercises if is_written(there, name, stubs)]:
            raise WouldBeLost(
                f"{path.as_posix()} has an answer to {_join(lost)}, and {notebook.name} has none. If you work in "
                f'another notebook, run `course.hand_in("NAME.ipynb")` with its name. If {notebook.name} is right, '
                f"delete {path.as_posix()} first, and run `course.hand_in()` again."
            )
    path.write_text(json.dumps(notebook.content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def offer_download(path: Path) -> None:
    """Offer a file for download: by the browser in Colab, by a link elsewhere."""
    if COLAB in sys.modules:
        sys.modules[COLAB].files.download(str(path))
    else:
        from IPython.display import FileLink, display

        display(FileLink(path.as_posix()))


def _quoted(name: str) -> str:
    """A name as it is written in Python, with double quotes where they can be."""
    return json.dumps(name, ensure_ascii=False)


def _from_colab() -> dict[str, Any]:
    message = import_module(f"{COLAB}._message")  # the only way to read the open notebook
    answer = message.blocking_request("get_ipynb", timeout_sec=30)
    if not isinstance(answer, dict) or not is_notebook(answer.get("ipynb")):
        raise NotFound("Colab did not return the notebook: save it, then download it with File > Download.")
    found: dict[str, Any] = answer["ipynb"]
    return found


def _cell_name(grade_id: str) -> str:
    name = grade_id.removeprefix("check_")
    return f"the cell `check({name})`" if name != grade_id else f"the cell of `{name}`"


def _failed(cell: Mapping[str, Any]) -> bool:
    return any(output.get("output_type") == "error" for output in cell.get("outputs") or ())


def _is_unsaved(notebook: SavedNotebook, name: str) -> bool:
    """Whether the last cell that ran and defines `name` is missing in the file."""
    ran = ran_last(name)
    return ran is not None and ran.strip() not in {source(cell).strip() for cell in notebook.cells}


def _join(parts: list[str]) -> str:
    cut = parts if len(parts) <= MAX_LISTED else [*parts[:MAX_LISTED], f"{len(parts) - MAX_LISTED} more"]
    return cut[0] if len(cut) == 1 else f"{', '.join(cut[:-1])} and {cut[-1]}"
