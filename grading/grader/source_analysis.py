"""Reads submitted code, without running it: what an answer calls, and whether it names what is not allowed.

Only the exercise's own definition is read, with the learner's definitions that it reaches: a scratch cell that
compares an answer with `torch.softmax` costs nothing. Answers to exercises before it in the lesson are judged by
themselves and not read; an answer to a later one is a helper like any other, wherever its cell stands. A second guard
stands around the call itself (`course.harness.forbidden_calls.Watch`); each catches what slips past the other.
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
MAX_TOLD = 20  # uses of one name's definitions
MAX_NODES = 100  # of an expression that is told

known_names: WeakKeyDictionary[ast.AST, frozenset[str]] = WeakKeyDictionary()


class NotebookSource:
    """The code of a notebook's cells, in order, up to and with the cell under judgement.

    exercises  names of the lesson's exercises, in the lesson's order
    """

    def __init__(self, cells: Iterable[str], exercises: Iterable[str] = ()) -> None:
        self.exercises = tuple(exercises)
        self.modules: dict[str, str] = {}  # local name -> dotted path of what was imported
        # The last definition of each top-level name, and those before it that it builds on, as `f = wrap(f)` does
        self.definitions: dict[str, list[ast.stmt]] = {}
        left = MAX_KEPT
        for cell in cells:
            if len(cell) <= left:
                left -= len(cell)
                self.add(parse(cell))

    def add(self, tree: ast.AST | None) -> None:
        """Note the imports and definitions of a block and of the blocks in it, from top to bottom."""
        todo = [tree] if tree is not None else []
        while todo:  # blocks of a stranger's may be nested deeper than Python's stack
            node = todo.pop()
            if isinstance(node, DEFINITIONS):
                self.modules.pop(node.name, None)  # a definition of one's own hides an import of that name
                self._note_imports(node)
                self._define(node.name, node)
            elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                named = [n for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)]
                # what is written into a module, as `torch.backends.x = y`, is no part of every answer that uses it
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
        """Names of top-level definitions that `name` uses, directly or through others; with `name` itself."""
        return self._reach(name, frozenset())

    def earlier_exercises(self, name: str) -> frozenset[str]:
        """The exercises that come before `name` in the lesson, in whatever order the notebook has them."""
        place = self.exercises.index(name) if name in self.exercises else len(self.exercises)
        return frozenset(self.exercises[:place])

    def not_allowed(self, name: str, patterns: Iterable[str]) -> list[str]:
        """What the answer to `name` uses of the forbidden, each as it is written; answers before it are not read."""
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
                    yield _spelled(node)
            elif isinstance(node, ast.Name) and node.id in self.modules:
                path = self.modules[node.id].split(".")
                if path[0] == "torch" and any(is_forbidden(part, patterns) for part in path[1:]):
                    yield node.id
            elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "getattr" and len(node.args) > 1:
                named = node.args[1]
                if isinstance(named, ast.Constant) and is_forbidden(str(named.value), patterns):
                    yield _spelled(node)

    def _torch_parts(self, node: ast.Attribute) -> list[str]:
        """The parts of a dotted name that may be torch's: none for another library's or the learner's own object."""
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


def _spelled(node: ast.AST) -> str:
    """What the learner wrote, where it is short enough to be told."""
    if len(list(islice(ast.walk(node), MAX_NODES))) < MAX_NODES:
        return ast.unparse(node)[:80]
    return f"….{node.attr}" if isinstance(node, ast.Attribute) else "getattr(…)"


def free_names(definition: ast.AST) -> frozenset[str]:
    """Names that a statement takes from around it: not its own parameters and variables, whatever they are called.

    Found once, however often it is asked: a notebook's statements are kept (`cells.parse`).
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
