"""Which cells of a notebook an answer needs, found without running anything."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass

from grading.grader.cell_code import bound_names, parse
from grading.grader.source_analysis import DEFINITIONS, NotebookSource

from .outputs import Stop

STAR = "*"


@dataclass
class ExecutedCell:
    """A cell to run.

    from_lesson  unchanged since release
    completed    ran to its end, or to an exception
    stop         where and why it stopped, if it did
    """

    code: str
    from_lesson: bool = False
    completed: bool = True
    stop: Stop | None = None


def names_needed(source: NotebookSource, name: str) -> list[str]:
    """Names that the answer `name` uses, directly or indirectly, and its own.

    Definitions and imports, except imports from the course, which only serve to look at answers.
    """
    imported = {local for local, path in source.modules.items() if path.split(".")[0] != "course"}
    return sorted(source.reachable(name) | (source.names_used(name) & imported))


def unbound_names(source: NotebookSource, name: str) -> list[str]:
    """Names that the answer uses but no readable cell binds.

    A `from … import *` or an unreadable cell may bind them.
    """
    return sorted(source.names_used(name) - {*source.definitions, *source.modules, *dir(builtins)})


def may_be_changed(source: NotebookSource, name: str, later: Iterable[ExecutedCell]) -> bool:
    """Whether later cells may change data that the answer uses, or patch its definitions."""
    reached = source.reachable(name)
    cells = list(later)
    data = any(not isinstance(statement, DEFINITIONS) for other in reached for statement in source.definitions[other])
    return bool(cells and data) or any(_patches(cell.code, reached) for cell in cells)


def _patches(code: str, names: set[str]) -> bool:
    """Whether code sets an attribute of one of these names, as `Model.forward = f` does."""
    for node in ast.walk(parse(code) or ast.Module([], [])):
        target: ast.AST | None = None
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            target = node
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("setattr", "delattr") and node.args:
            target = node.args[0]
        while isinstance(target, ast.Attribute):
            target = target.value
        if isinstance(target, ast.Name) and target.id in names:
            return True
    return False


def stopped_cells(cells: Iterable[ExecutedCell], needed: Iterable[str]) -> list[ExecutedCell]:
    """Cells that stopped before they bound a needed name, if no later cell binds it.

    If STAR is needed, this includes each cell that stopped before a `from … import *`.
    """
    trees = [(cell, tree) for cell in cells if (tree := parse(cell.code)) is not None]
    imports = [statement for cell, tree in trees if not cell.stop for statement in tree.body if _is_import(statement)]
    names = set(needed) - (bound_names(ast.Module(imports, [])) - {STAR})
    found: list[ExecutedCell] = []
    for cell, tree in reversed(trees):
        if cell.stop is None:
            names -= bound_names(tree) - {STAR}
            continue
        rest = [statement for statement in tree.body if (statement.end_lineno or 0) >= cell.stop.line]
        if names & bound_names(ast.Module(rest, [])):
            found.insert(0, cell)
    return found


def cells_needed(
    cells: Iterable[ExecutedCell], source: NotebookSource, name: str, definitions_only: bool
) -> Iterator[str]:
    """Code of the cells needed to grade the answer `name` apart from the rest.

    These are the lesson's own cells, the answer's, those that define what it reaches, and the imports of all others.
    An import that fails, because its package is not installed here, does not stop the others.

    definitions_only: instead of whole cells that define names which the answer uses, yield only those definitions
    """
    reached = source.reachable(name)
    for cell in cells:
        tree = parse(cell.code)
        if (cell.from_lesson and cell.completed) or (_defined_names(tree) & reached and not definitions_only):
            yield cell.code
        elif tree is not None:
            statements = [s for s in tree.body if _is_import(s) or _defined_names(s) & reached]
            if statements:
                yield "\n".join(map(_portable, statements))


def _defined_names(tree: ast.AST | None) -> set[str]:
    source = NotebookSource([])
    source.add(tree)
    return set(source.definitions)


def _is_import(statement: ast.stmt) -> bool:
    imports = isinstance(statement, ast.Import | ast.ImportFrom)
    return imports and getattr(statement, "module", "") != "__future__"  # which no block may hold


def _portable(statement: ast.stmt) -> str:
    """The statement's code, which runs even if a package that it uses is missing.

    It omits annotations of functions, and decorators whose names are missing.
    """
    try:
        bare = _WithoutAnnotations().visit(deepcopy(statement))
        if getattr(statement, "decorator_list", None):
            plain = deepcopy(bare)
            plain.decorator_list = []
            bare = _attempt([bare], "NameError", [plain])
        return ast.unparse(_attempt([bare], "Exception", [ast.Pass()]))
    except RecursionError:  # nobody nests code so deep by hand
        return "pass"


def _attempt(body: list[ast.stmt], exception: str, instead: list[ast.stmt]) -> ast.Try:
    return ast.Try(body, [ast.ExceptHandler(ast.Name(exception, ast.Load()), None, instead)], [], [])


class _WithoutAnnotations(ast.NodeTransformer):
    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.returns = None
        self.generic_visit(node)
        return node
