"""Rules for a lesson's text whose breach does not show in the lesson as its author runs and reads it.

Each cell has one kind. The given code may not need a name that only an answer defines, and a wrapped line of prose may
not begin like a heading, a list or a quotation. The build reads the code and does not run it.
"""

from __future__ import annotations

import ast
import builtins
import re
import symtable
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

from nbformat import NotebookNode
from nbgrader.preprocessors import ClearSolutions

from course.cell_kinds import KINDS

from ..errors import BuildError
from ..exercises.lesson import Lesson
from ..grader.cell_code import defines, parse
from ..notebooks.cells import grade_id, visible
from . import lesson_text
from .given_cells import earlier_exercises

FOLDS = ("picture", "model")  # kinds whose code may be folded
SHELL = {"get_ipython", "display", "In", "Out"}
COMPREHENSIONS = {"listcomp", "setcomp", "dictcomp", "genexpr"}
FENCED = re.compile(r"^( *)(```|~~~).*?^ *\2[^\n]*", re.DOTALL | re.MULTILINE)
FORMULA = re.compile(r"^ *\$\$.*?\$\$", re.DOTALL | re.MULTILINE)
# What begins another block directly below prose, in one renderer at least: nbconvert needs no space after #, and some
# renderers begin a list at any number
HEADING = re.compile(r"#{1,6}(?!#)|[=-]+\s*$")
ITEM = re.compile(r"(>)|([*+-])(?:\s+|$)|(\d{1,9})([.)])(?:\s+|$)")
CODE_INDENT = "    "


def check_kinds(notebook: NotebookNode, text: Path) -> None:
    """Check that each cell has one kind, and that no cell is folded that teaches. Raises BuildError."""
    heading = "the beginning"
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            heading = (lesson_text.HEADING.findall(cell.source) or [heading])[-1]
        kinds, first = [tag for tag in cell.metadata.tags if tag in KINDS], cell.source.partition("\n")[0]
        where = f"{text.name}: the cell {first!r}, at {heading!r},"
        if not kinds:
            raise BuildError(
                f"{where} has no kind. Write `code` (to read), `picture`, `model` or `experiment` above it, as in "
                '`# %% tags=["code"]`'
            )
        if len(kinds) > 1:
            raise BuildError(f"{where} has more than one kind: {', '.join(kinds)}. Remove the tag, or divide the cell")
        if lesson_text.FOLDED.match(cell.source) and kinds[0] not in FOLDS:
            raise BuildError(f"{where} is folded, and its kind is {kinds[0]}. A cell that teaches must be visible")


def check_names(notebook: NotebookNode, text: Path, lesson: Lesson) -> None:
    """Check that given code, and the signature of each stub, reads only names from given code. Raises BuildError.

    The names of exercises and steps are always there, because `begin` defines a placeholder for each, and given cells
    have those of earlier exercises.
    """
    cells = [deepcopy(cell) for cell in notebook.cells if cell.cell_type == "code"]
    answers = [cell for cell in cells if grade_id(cell) and cell.metadata.nbgrader.get("solution")]
    for name in lesson.steps:
        answers += [cell for cell in cells if defines(cell.source, name)][:1]
    known = SHELL | set(dir(builtins)) | set(lesson.all_tasks) | earlier_exercises(text.stem).keys()
    in_functions = list[tuple[str, set[str]]]()
    for cell in cells:
        title, own = grade_id(cell) or cell.source.partition("\n")[0], set[str]()
        stub, _ = ClearSolutions().preprocess_cell(cell, {"language": "python"}, 0)
        tree = parse(visible(stub.source))
        for statement in tree.body if tree else []:
            now, later, bound = _names(statement)
            _refuse(text, title, now - known - own)
            if not any(cell is answer for answer in answers):
                known |= bound
                in_functions.append((title, later))
            elif isinstance(statement, ast.FunctionDef | ast.ClassDef):
                own |= bound
    for title, later in in_functions:
        _refuse(text, title, later - known)


def _refuse(text: Path, title: str, missing: set[str]) -> None:
    if missing:
        raise BuildError(
            f"{text.name}: the cell {title!r} reads {min(missing)}, which given code does not define. Define or import "
            "it in a cell above that holds no answer, because an answer may lack it"
        )


def _names(statement: ast.stmt) -> tuple[set[str], set[str], set[str]]:
    """The names that a statement reads when it runs, those that its functions read when called, and those it binds."""
    top = symtable.symtable(ast.unparse(statement), "cell", "exec")
    now = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_referenced()}
    bound = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    later = set[str]()
    scopes = [(scope, False) for scope in top.get_children()]
    for scope, waits in scopes:
        waits = waits or (scope.get_type() == "function" and scope.get_name() not in COMPREHENSIONS)
        read = {symbol.get_name() for symbol in scope.get_symbols() if symbol.is_referenced() and symbol.is_global()}
        (later if waits else now).update(read)
        scopes += [(inner, waits) for inner in scope.get_children()]
    # A block binds before it reads, as a loop its variable; a comprehension's variables are in this scope since 3.12
    targets = [node.target for node in ast.walk(statement) if isinstance(node, ast.comprehension)]
    variables = {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}
    return now - (bound if hasattr(statement, "body") else variables), later, bound


def check_lines(notebook: NotebookNode, text: Path) -> None:
    """Check that no wrapped line of prose looks like the start of another block. Raises BuildError."""
    for cell in notebook.cells:
        for line in _misread(cell.source) if cell.cell_type == "markdown" else ():
            raise BuildError(
                f"{text.name}: the line {line!r} would be shown as a heading, a list, a quotation or code, instead of "
                "with the line above it. Wrap the line elsewhere, or leave an empty line above it"
            )


def _misread(source: str) -> Iterator[str]:
    """Lines directly below prose that begin another block, and do not continue a list or quotation."""
    for paragraph in re.split(r"\n(?:[ \t]*\n)+", FORMULA.sub("$$", FENCED.sub("", source))):
        if paragraph.startswith(("<", CODE_INDENT)):  # HTML or code, which renderers leave as it is
            continue
        follows, depth, below_prose = set[tuple[int, str]](), 0, False
        for line in paragraph.splitlines():
            content = line.lstrip()
            indent, heading, item = len(line) - len(content), HEADING.match(content), ITEM.match(content)
            continues = item and (indent, item[0].rstrip()) in follows
            if below_prose and not continues and (heading or item or indent - depth >= len(CODE_INDENT)):
                yield line
            if item:
                quote, bullet, number, mark = item.groups()
                follows.add((indent, quote or bullet or f"{int(number) + 1}{mark}"))
                depth = indent + len(item[0])
            below_prose = not heading
