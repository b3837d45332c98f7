"""Which of a notebook's cells an answer needs: read from their text, nothing is run."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from grading.grader.cell_code import parse
from grading.grader.source_analysis import NotebookSource, free_names


@dataclass
class ExecutedCell:
    """A cell that was to be run. given: the lesson's own, as it was released; finished: it came to its end."""

    code: str
    from_lesson: bool = False
    completed: bool = True


def names_needed(source: NotebookSource, name: str) -> list[str]:
    """The notebook's names that the answer `name` uses, directly or through others, and its own.

    Definitions and imports; but not what is imported from the course, which is there to look at answers.
    """
    reached = source.reachable(name)
    used = {free for one in reached for statement in source.definitions[one] for free in free_names(statement)}
    imported = {local for local, path in source.modules.items() if path.split(".")[0] != "course"}
    return sorted(reached | (used & imported))


def cells_needed(
    cells: Iterable[ExecutedCell], source: NotebookSource, name: str, definitions_only: bool
) -> Iterator[str]:
    """Code of the cells in which the answer `name` can be judged apart from the rest of its notebook.

    These are the lesson's own cells, the answer's, and those that define what the answer reaches; of all others the
    imports. `bare`: of what the answer reaches, too, the definitions without the rest of their cells.
    """
    reached = source.reachable(name)
    for cell in cells:
        tree = parse(cell.code)
        defined = _defined(tree)
        if name in defined or (cell.from_lesson and cell.completed) or (defined & reached and not definitions_only):
            yield cell.code
        else:
            kept = [s for s in (tree.body if tree else ()) if _imports(s) or _defined(s) & reached]
            if kept:
                yield "\n".join(map(ast.unparse, kept))


def _defined(tree: ast.AST | None) -> set[str]:
    source = NotebookSource([])
    source.add(tree)
    return set(source.definitions)


def _imports(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Import | ast.ImportFrom)
