"""Which cells of a notebook an answer needs, found without running anything."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from grading.grader.cell_code import parse
from grading.grader.source_analysis import NotebookSource


@dataclass
class ExecutedCell:
    """A cell to run. from_lesson: unchanged since release; completed: ran to its end."""

    code: str
    from_lesson: bool = False
    completed: bool = True


def names_needed(source: NotebookSource, name: str) -> list[str]:
    """Names that the answer `name` uses, directly or indirectly, and its own.

    Definitions and imports, except imports from the course, which only serve to look at answers.
    """
    imported = {local for local, path in source.modules.items() if path.split(".")[0] != "course"}
    return sorted(source.reachable(name) | (source.names_used(name) & imported))


def cells_needed(
    cells: Iterable[ExecutedCell], source: NotebookSource, name: str, definitions_only: bool
) -> Iterator[str]:
    """Code of the cells needed to grade the answer `name` apart from the rest.

    These are the lesson's own cells, the answer's, those that define what it reaches, and the imports of all others.
    definitions_only: of the cells that define what it reaches, only those definitions.
    """
    reached = source.reachable(name)
    for cell in cells:
        tree = parse(cell.code)
        defined = _defined_names(tree)
        if name in defined or (cell.from_lesson and cell.completed) or (defined & reached and not definitions_only):
            yield cell.code
        else:
            statements = [s for s in (tree.body if tree else ()) if _is_import(s) or _defined_names(s) & reached]
            if statements:
                yield "\n".join(map(ast.unparse, statements))


def _defined_names(tree: ast.AST | None) -> set[str]:
    source = NotebookSource([])
    source.add(tree)
    return set(source.definitions)


def _is_import(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Import | ast.ImportFrom)
