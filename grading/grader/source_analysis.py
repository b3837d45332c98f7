"""Reads submitted code, without running it, for calls and forbidden names.

Only the exercise's own definition is read, and the learner's definitions that it reaches: a scratch cell that compares
an answer with `torch.softmax` costs nothing. Answers to earlier exercises of the lesson are graded separately and not
read; an answer to a later one is a helper like any other, wherever its cell is. A second guard watches the call itself
(`course.harness.forbidden_calls`); each catches what the other misses.
"""

from __future__ import annotations

import ast
import re
import symtable
from collections.abc import Iterable, Iterator
from copy import copy
from itertools import islice
from weakref import WeakKeyDictionary
from zlib import crc32

from course.harness.forbidden_calls import PACKAGE, is_forbidden
from course.shipped import answers_an_exercise, names_of
from grading.grader.cell_code import MAX_KEPT, parse

MATMUL = "matmul"
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
BLOCKS = (ast.stmt, ast.ExceptHandler, ast.match_case)
# Attributes and calls that lead to code which is not there to read
REFLECTION = ("__builtins__", "__closure__", "__code__", "__globals__", "__subclasses__", "__wrapped__", "f_back")
RUNS_TEXT = ("compile", "eval", "exec")
# Modules that hold all functions under other names, or switch off what watches them
HOLD_ALL = (["sys", "modules"], *(["torch", name] for name in ("__dict__", "_C", "_decomp", "_refs", "overrides")))
IMPORTS = ("__import__", "importlib.import_module")
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
        self.checksum = 0
        left = MAX_KEPT
        for cell in cells:
            self.checksum = crc32(cell.encode(errors="replace"), self.checksum)
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
                module = node.module or ""
                for alias in node.names:
                    self.modules[alias.asname or alias.name] = f"{module}.{alias.name}"
                    if alias.name == "*":
                        self.modules |= {name: f"{module}.{name}" for name in names_of(module)}

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
        patterns = tuple(patterns)
        found: list[str] = []
        if patterns:
            earlier = self.earlier_exercises(name)
            for reached in self._reach(name, earlier):
                within = [(self._within(statement), statement) for statement in self.definitions[reached]]
                uses = (use for one, statement in within for use in one._uses(_code(statement), patterns))
                found += [text for text in dict.fromkeys(islice(uses, MAX_TOLD)) if text not in found]
            if _is_forbidden(self._imported(name), patterns):
                found.append(self.modules[name])
        return sorted(found)

    def _within(self, statement: ast.stmt) -> NotebookSource:
        """This source as a statement sees it: its own variables hide imports of the same names."""
        own, seen = NotebookSource([]), copy(self)
        own._note_imports(statement)
        visible = free_names(statement) | own.modules.keys()
        seen.modules = {name: path for name, path in self.modules.items() if name in visible}
        return seen

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

    def _uses(self, code: Iterable[ast.AST], patterns: tuple[str, ...]) -> Iterator[str]:
        inner: set[ast.AST] = set()  # parts of longer dotted names
        for node in code:
            if isinstance(node, (ast.BinOp, ast.AugAssign)):
                if isinstance(node.op, ast.MatMult) and is_forbidden(MATMUL, patterns):
                    yield "@"
                continue
            path = [] if node in inner else self._path(node)
            if isinstance(node, ast.Attribute):
                inner.add(node.value)
                of_torch = any(is_forbidden(part, patterns) for part in self._torch_parts(node))
                if node.attr in REFLECTION or of_torch or _is_forbidden(path, patterns):
                    yield _source_text(node)
            elif isinstance(node, ast.Call):
                if self._is_hidden_call(node, patterns):
                    yield _source_text(node)
            elif _is_forbidden(path or _package_path(node), patterns):
                yield _source_text(node)

    def _is_hidden_call(self, node: ast.Call, patterns: tuple[str, ...]) -> bool:
        """Whether a call takes a forbidden function by its name, or by a name that is not there to read."""
        called = ".".join(self._path(node.func)) or getattr(node.func, "id", "")
        texts = [argument.value if isinstance(argument, ast.Constant) else None for argument in node.args]
        if called in self.definitions or not texts:
            return False
        if called in IMPORTS:
            return texts[0] is None or texts[0] == PACKAGE
        of_torch = self._path(node.args[0])[:1] == ["torch"]
        if called == "getattr" and len(texts) > 1:
            return of_torch if texts[1] is None else is_forbidden(str(texts[1]), patterns)
        return called in RUNS_TEXT or (called == "vars" and of_torch)

    def _imported(self, name: str) -> list[str]:
        """The parts of the dotted path that was imported under a name."""
        return self.modules[name].split(".") if name in self.modules else []

    def _path(self, node: ast.AST) -> list[str]:
        """The parts of a dotted name that begins with an import."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        imported = self._imported(node.id) if isinstance(node, ast.Name) else []
        return imported and [*imported, *reversed(parts)]

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


def _code(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a statement that compute: no annotations, and nothing that an object's type is compared with."""
    todo = [tree]
    while todo:
        node = todo.pop()
        yield node
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "isinstance"
            and node.args
        ):
            todo += [node.func, node.args[0]]
            continue
        for field, value in ast.iter_fields(node):
            if field not in ("annotation", "returns"):
                todo += [part for part in (value if isinstance(value, list) else [value]) if isinstance(part, ast.AST)]


def _is_forbidden(path: list[str], patterns: tuple[str, ...]) -> bool:
    """Whether an import, or what is taken from it, is forbidden."""
    if path[:2] in HOLD_ALL:
        return True
    if path[:1] == [PACKAGE]:
        return is_forbidden(PACKAGE, patterns) and answers_an_exercise(path[1:])
    return path[:1] == ["torch"] and any(is_forbidden(part, patterns) for part in path[1:])


def _package_path(node: ast.AST) -> list[str]:
    """The parts of a module's name in a text, if it is one of the package's."""
    text = node.value if isinstance(node, ast.Constant) else ""
    return text.split(".") if isinstance(text, str) and re.fullmatch(rf"{PACKAGE}(\.\w+)+", text) else []


def _source_text(node: ast.AST) -> str:
    """The learner's code, if it is short enough to report."""
    if len(list(islice(ast.walk(node), MAX_NODES))) < MAX_NODES:
        return ast.unparse(node)[:80]
    return f"….{node.attr}" if isinstance(node, ast.Attribute) else "(…)"


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
