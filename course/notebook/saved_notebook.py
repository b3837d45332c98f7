"""A notebook: its saved file, the cells that ran in this kernel, and the versions of an answer in it.

Assistants write a better version at the end of a notebook, and learners keep an old one. The kernel has the version
that ran last; the grade takes the one at the exercise's check (`course.which_counts`).
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..report import shell
from ..which_counts import NOT_DEFINED, STILL_RAISES, which_version

# A line that only IPython reads: %magic, !command, ?help or help?
IPYTHON_LINE = re.compile(r"^([ \t]*)(?:[%!?].*|\S.*\?)$", re.MULTILINE)
FOLDER = "hand_in"  # where `hand_in` writes the file to hand in
CELL_MAGIC = re.compile(r"\s*%%(\w+).*\n?")
RUN_THEIR_CELL = ("capture", "time")  # cell magics that leave the cell's names behind
MOVE = "If you mean another version, move it into the cell of `{}`, run that cell and save."


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

    @property
    def starts(self) -> list[str]:
        return [cell_start(cell) for cell in self.cells]


@dataclass(frozen=True)
class Versions:
    """The cells that define an answer, by number: the one that counts, and the others.

    own          the exercise's own cell, if it is a version
    definitions  what defines it in the cell that counts, the last statement last
    """

    name: str
    own: int | None
    counts: int
    others: list[int]
    definitions: list[ast.AST]

    def sentences(self, starts: Sequence[str]) -> tuple[str, str]:
        """A reason why the notebook is not ready, and a sentence that is only good to know; "" for none.

        starts: descriptions of the cells
        """
        below = [n for n in self.others if n > self.counts]
        module = _own_module(self.definitions[-1]) if self.definitions else ""
        if module:
            return (
                f"`{self.name}` comes from the file {module}, which is not part of the notebook. Copy its code into "
                f"the cell of `{self.name}`, run that cell and save.",
                "",
            )
        if not self.others:
            twice = len(self.definitions) > 1
            return "", f"One cell defines `{self.name}` more than once: the last definition counts." * twice
        where = "in its own cell" if self.counts == self.own else f"in {starts[self.counts]}"
        other = (below or self.others)[-1]
        side = "further down" if other > self.counts else "above"
        what = (
            f"`{self.name}` is defined in more than one cell. The grade takes the version {where}, and not the one "
            f"{side}, in {starts[other]}. {MOVE.format(self.name)}"
        )
        return (what, "") if below else ("", what)


def versions_of(cells: Sequence[Mapping[str, Any]], name: str, stub: str) -> Versions | None:
    """The versions of an answer; None if nothing defines it. stub: the text of its cell before an answer."""
    ids = [grade_id(cell) for cell in cells]
    empty = _dump(stub)
    texts = [source(cell) if cell.get("cell_type") == "code" else "" for cell in cells]
    found = {n: text for n, text in enumerate(texts) if defines(text, name) and (not empty or _dump(text) != empty)}
    own = next((n for n in found if ids[n] == name), None)
    check = next((n for n, cell_id in enumerate(ids) if cell_id == f"check_{name}"), None)
    counts = which_version(list(found), own, check)
    if counts is None:
        return None
    tree = parse(found[counts])
    return Versions(
        name, own, counts, [n for n in found if n != counts], bindings(tree, name) if tree is not None else []
    )


def full_cell(text: str, stub: str, name: str) -> str:
    """Why nothing in a cell without an answer is judged although something was written; "" for an unchanged cell."""
    tree, given = parse(text), parse(stub)
    if given is None or not given.body or (tree is not None and _work(tree, name) in ([], _work(given, name))):
        return ""
    return (STILL_RAISES if defines(text, name) else NOT_DEFINED).format(name)


def _work(tree: ast.Module, name: str) -> list[str]:
    """The statements of the function `name` but for its docstring and `raise`, or else of the whole cell."""
    of_name = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name]
    body = of_name[-1].body if of_name else tree.body
    kept = [node for node in body if not (of_name and (isinstance(node, ast.Raise) or _is_text(node)))]
    return [ast.dump(node) for node in kept]


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def source(cell: Mapping[str, Any]) -> str:
    """The text of a cell, which files store as one string or as lines."""
    text = cell.get("source", "")
    return "".join(text) if isinstance(text, list) else str(text)


def python_of(text: str) -> str:
    """The text of a cell without a cell magic; empty if the magic does not run the cell as Python."""
    magic = CELL_MAGIC.match(text)
    if magic is None:
        return text
    return f"\n{text[magic.end() :]}" if magic[1] in RUN_THEIR_CELL else ""


def parse(text: str) -> ast.Module | None:
    """Parse a cell, without IPython's lines if it is no Python with them; None if nothing can be parsed."""
    code = python_of(text)
    for version in (code, IPYTHON_LINE.sub(r"\1pass", code)):
        try:
            with warnings.catch_warnings():  # about escapes such as "\\d": Python has shown them where the cell ran
                warnings.simplefilter("ignore")
                return ast.parse(version)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return None


def defines(text: str, name: str) -> bool:
    """Whether a cell defines a name; one with a syntax error does if it has the `def` line."""
    if name not in text:
        return False
    tree = parse(text)
    return bool(bindings(tree, name)) if tree is not None else has_def_line(text, name)


def has_def_line(text: str, name: str) -> bool:
    return re.search(rf"^(?:async\s+)?(?:def|class)\s+{name}\b", text, re.MULTILINE) is not None


def bindings(tree: ast.Module, name: str) -> list[ast.AST]:
    """The statements and names that bind a name in a cell, in order, without those in functions and classes."""
    found, todo = list[ast.AST](), list[ast.AST](reversed(tree.body))
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found += [node] * (node.name == name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = [(alias.asname or alias.name).split(".")[0] for alias in node.names]
            found += [node] * (name in names)
        elif isinstance(node, ast.Name):
            found += [node] * (node.id == name and isinstance(node.ctx, ast.Store))
        elif not isinstance(node, ast.Lambda):
            todo.extend(reversed(list(ast.iter_child_nodes(node))))
    return found


def _own_module(node: ast.AST) -> str:
    """The learner's own file from which a name is imported, or ""."""
    if not isinstance(node, ast.Import | ast.ImportFrom):
        return ""
    module = (node.module if isinstance(node, ast.ImportFrom) else node.names[0].name) or ""
    first = module.split(".")[0]
    return next((str(path) for path in (Path(f"{first}.py"), Path(first)) if first and path.exists()), "")


def _dump(text: str) -> str:
    tree = parse(text)
    return ast.dump(tree) if tree is not None else ""


def grade_id(cell: Mapping[str, Any]) -> str:
    marks = cell["metadata"].get("nbgrader")
    return str(marks.get("grade_id", "")) if isinstance(marks, dict) else ""


def read(path: Path) -> dict[str, Any]:
    """Read a notebook's content. Raises NotFound."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise NotFound(f"{path} cannot be read ({error}): save the notebook again.") from None
    if not is_notebook(content):
        raise NotFound(f"{path} is not a notebook: save the notebook again.")
    found: dict[str, Any] = content
    return found


def is_notebook(content: Any) -> bool:
    """Whether content has the parts of a notebook that are read here."""
    cells = content.get("cells") if isinstance(content, dict) else None
    return isinstance(cells, list) and all(
        isinstance(cell, dict)
        and isinstance(cell.get("metadata"), dict)
        and all(isinstance(output, dict) for output in cell.get("outputs") or ())
        for cell in cells
    )


def cell_start(cell: Mapping[str, Any]) -> str:
    """A description of a cell by its first line."""
    return f"the cell that begins `{source(cell).strip().partition(chr(10))[0][:60].replace('`', '')}`"


def recent_cells() -> Iterator[str]:
    """Yield the source of the cells that ran in this kernel, the running one first."""
    history = getattr(shell(), "history_manager", None)
    yield from reversed(history.input_hist_raw if history else [])


def ran_last(name: str) -> str | None:
    """The last cell that ran and defines `name`, right or wrong."""
    return next((cell for cell in recent_cells() if defines(cell, name)), None)
