"""Reads submitted code, without running it: what an answer calls, and whether it names what is not allowed.

Only the exercise's own definition is read, with the learner's definitions that it reaches: a scratch cell that
compares an answer with `torch.softmax` costs nothing. A second guard stands around the call itself
(`course.protocol.watching.Watch`); each catches what slips past the other.
"""

from __future__ import annotations

import ast
import copy
import inspect
import symtable
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Any

from course.protocol.watching import is_forbidden
from grading.cells import MAX_KEPT, parse

MATMUL = "matmul"
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
BLOCKS = (ast.stmt, ast.ExceptHandler, ast.match_case)
MAX_TOLD = 20  # uses of one name's definitions
MAX_NODES = 100  # of an expression that is told


class Source:
    """The code of a notebook's cells, in order, up to and with the cell under judgement."""

    def __init__(self, cells: Iterable[str], exercises: Iterable[str] = ()) -> None:
        self.exercises = frozenset(exercises)
        self.modules: dict[str, str] = {}  # local name -> dotted path of what was imported
        # The last definition of each top-level name, and those before it that it builds on, as `f = wrap(f)` does
        self.definitions: dict[str, list[ast.stmt]] = {}
        left = MAX_KEPT
        for cell in cells:
            if len(cell) <= left:
                left -= len(cell)
                self._note(parse(cell))

    def _note(self, tree: ast.AST | None) -> None:
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

    def not_allowed(self, name: str, patterns: Iterable[str]) -> list[str]:
        """What the answer to `name` uses of the forbidden, each as it is written; other exercises' answers not read."""
        patterns = list(patterns)
        found: list[str] = []
        if patterns:
            for reached in self._reach(name, self.exercises - {name}):
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


def free_names(definition: ast.AST) -> set[str]:
    """Names that a statement takes from around it: not its own parameters and variables, whatever they are called."""
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


MARKERS = ("oracle", "mistake", "alternative")  # decorators of `Exercise`


def standing_alone(answer: Any) -> str:
    """The source of a function or class of a module, with the imports and definitions of the module that it needs."""
    module = inspect.getmodule(answer)
    if module is None:
        raise ValueError(f"{answer!r} has no module")
    body, source = _read_module(inspect.getsource(module))
    needed = source.reachable(answer.__name__)
    wanted = set().union(*map(source._free, needed))
    lines = [ast.unparse(kept) for statement in body if (kept := _kept(statement, wanted, source, needed))]
    return "\n\n".join(lines)


@lru_cache(maxsize=16)
def _read_module(text: str) -> tuple[list[ast.stmt], Source]:
    """A module's statements, without the decorators of `Exercise`, and what they define."""
    body, source = ast.parse(text).body, Source([])
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            statement.decorator_list = [d for d in statement.decorator_list if not _marks(d)]
        source._note(statement)
    return body, source


def _marks(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return isinstance(called, ast.Attribute) and called.attr in MARKERS


def _kept(statement: ast.stmt, wanted: set[str], source: Source, needed: set[str]) -> ast.stmt | None:
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        ours = isinstance(statement, ast.ImportFrom) and (statement.module or "").startswith(("grading", "__future__"))
        kept = copy.copy(statement)
        kept.names = [n for n in statement.names if (n.asname or n.name).split(".")[0] in wanted]
        return kept if kept.names and not ours else None
    return statement if any(statement in source.definitions[name] for name in needed) else None
