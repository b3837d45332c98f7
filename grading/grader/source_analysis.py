"""Reads submitted code, without running it, for calls and forbidden names.

Only the exercise's own definition is read, and the learner's definitions that it reaches: a scratch cell that compares
an answer with `torch.softmax` costs nothing. Answers to earlier exercises of the lesson are graded separately and not
read; an answer to a later one is a helper like any other, wherever its cell is. A second guard watches the call itself
(`course.harness.forbidden_calls`); each catches what the other misses.
"""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterable, Iterator
from itertools import islice
from weakref import WeakKeyDictionary

from course.harness.forbidden_calls import is_forbidden
from grading.grader.cell_code import MAX_KEPT, parse

MATMUL = "matmul"
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
BLOCKS = (ast.stmt, ast.ExceptHandler, ast.match_case)
MAX_TOLD = 20  # reported uses per name
MAX_NODES = 100  # of a reported expression

known_names: WeakKeyDictionary[ast.AST, frozenset[str]] = WeakKeyDictionary()


class NotebookSource:
    """The code of a notebook's cells in order, up to and with the graded cell.

    exercises  names of the lesson's exercises, in the lesson's order
    """

    def __init__(self, cells: Iterable[str], exercises: Iterable[str] = ()) -> None:
        self.exercises = tuple(exercises)
        self.modules: dict[str, str] = {}  # local name -> dotted path of the import
        # Each top-level name's last definition, with earlier ones that it builds on, as `f = wrap(f)` does
        self.definitions: dict[str, list[ast.stmt]] = {}
        left = MAX_KEPT
        for cell in cells:
            if len(cell) <= left:
                left -= len(cell)
                self.add(parse(cell))

    def add(self, tree: ast.AST | None) -> None:
        """Record the imports and definitions of nested blocks, from top to bottom."""
        todo = [tree] if tree is not None else []
        while todo:  # untrusted blocks may be nested deeper than Python's stack
            node = todo.pop()
            if isinstance(node, DEFINITIONS):
                self.modules.pop(node.name, None)  # a definition hides an import of the same name
                self._note_imports(node)
                self._define(node.name, node)
            elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                named = [n for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)]
                # an assignment into a module, as `torch.backends.x = y`, is not part of each answer that uses it
                for name in {n.id for n in named if isinstance(n.ctx, ast.Store) or n.id not in self.modules}:
                    self._define(name, node)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                self._note_imports(node)
            else:
                todo += [child for child in ast.iter_child_nodes(node) if isinstance(child, BLOCKS)][::-1]

    def _note_imports(self, tree: ast.AST) -> None:
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    local = alias.asname or alias.name.split(".")[0]
                    self.modules[local] = alias.name if alias.asname else local
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    self.modules[alias.asname or alias.name] = f"{node.module or ''}.{alias.name}"

    def _define(self, name: str, statement: ast.stmt) -> None:
        if name in self.definitions and name in free_names(statement):
            self.definitions[name].append(statement)
        else:
            self.definitions[name] = [statement]

    def _free(self, name: str) -> set[str]:
        return set().union(*map(free_names, self.definitions[name]))

    def reachable(self, name: str) -> set[str]:
        """Top-level definitions that `name` uses, directly or indirectly, and itself."""
        return self._reach(name, frozenset())

    def names_used(self, name: str) -> set[str]:
        """Names that `name` uses, directly or through top-level definitions, wherever these are defined, if at all."""
        return set().union(*map(self._free, self.reachable(name)))

    def earlier_exercises(self, name: str) -> frozenset[str]:
        """The exercises before `name` in the lesson, in whatever notebook order."""
        place = self.exercises.index(name) if name in self.exercises else len(self.exercises)
        return frozenset(self.exercises[:place])

    def not_allowed(self, name: str, patterns: Iterable[str]) -> list[str]:
        """Forbidden names in the answer to `name`, as written; skips earlier answers."""
        patterns = list(patterns)
        found: list[str] = []
        if patterns:
            for reached in self._reach(name, self.earlier_exercises(name)):
                uses = (text for statement in self.definitions[reached] for text in self._uses(statement, patterns))
                found += [text for text in dict.fromkeys(islice(uses, MAX_TOLD)) if text not in found]
        return sorted(found)

    def _reach(self, name: str, stop: frozenset[str]) -> set[str]:
        reached: set[str] = set()
        todo = [name]
        while todo:
            current = todo.pop()
            if current in reached or current in stop or current not in self.definitions:
                continue
            reached.add(current)
            todo += self._free(current)
        return reached

    def _uses(self, tree: ast.AST, patterns: list[str]) -> Iterator[str]:
        for node in ast.walk(tree):
            if isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, ast.MatMult):
                if is_forbidden(MATMUL, patterns):
                    yield "@"
            elif isinstance(node, ast.Attribute):
                if any(is_forbidden(part, patterns) for part in self._torch_parts(node)):
                    yield _source_text(node)
            elif isinstance(node, ast.Name) and node.id in self.modules:
                path = self.modules[node.id].split(".")
                if path[0] == "torch" and any(is_forbidden(part, patterns) for part in path[1:]):
                    yield node.id
            elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "getattr" and len(node.args) > 1:
                named = node.args[1]
                if isinstance(named, ast.Constant) and is_forbidden(str(named.value), patterns):
                    yield _source_text(node)

    def _torch_parts(self, node: ast.Attribute) -> list[str]:
        """Parts of a dotted name that may be torch's; none for other objects."""
        inner: ast.AST = node
        while isinstance(inner, (ast.Attribute, ast.Call, ast.Subscript)):
            if isinstance(inner, ast.Attribute) and inner.attr == "numpy":
                return []
            inner = inner.func if isinstance(inner, ast.Call) else inner.value
        root = inner.id if isinstance(inner, ast.Name) else ""
        if root in self.modules:
            path = self.modules[root].split(".")
            return [*path[1:], node.attr] if path[0] == "torch" else []
        return [] if root in ("self", "cls") or root in self.definitions else [node.attr]


def _source_text(node: ast.AST) -> str:
    """The learner's code, if it is short enough to report."""
    if len(list(islice(ast.walk(node), MAX_NODES))) < MAX_NODES:
        return ast.unparse(node)[:80]
    return f"….{node.attr}" if isinstance(node, ast.Attribute) else "getattr(…)"


def free_names(definition: ast.AST) -> frozenset[str]:
    """Names that a statement takes from outside, without its own variables.

    Cached per statement, because the trees of a notebook are kept (`cell_code.parse`).
    """
    if definition not in known_names:
        known_names[definition] = frozenset(_free_names(definition))
    return known_names[definition]


def _free_names(definition: ast.AST) -> set[str]:
    try:
        tables = [symtable.symtable(ast.unparse(definition), "<cell>", "exec")]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {node.id for node in ast.walk(definition) if isinstance(node, ast.Name)}
    found: set[str] = set()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        inside = table.get_type() != "module"
        found |= {s.get_name() for s in table.get_symbols() if s.is_referenced() and (s.is_global() or not inside)}
    return found
