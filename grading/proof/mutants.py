"""Mutants: correct answers with one change each, to test graders for missing cases.

If a mutant loses nothing, the grader lacks a case, unless the mutant is as correct as its base (`equivalents.py`).
Code that cannot matter is not changed: error messages, annotations, docstrings.

Does not cover: whether a mutant loses points (`mutation_runs.py`).
"""

from __future__ import annotations

import ast
import copy
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, groupby, islice
from typing import Any

BINARY: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
COMPARE: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
PAIRS = (
    ("amax", "amin"),
    ("sum", "mean"),
    ("max", "min"),
    ("argmax", "argmin"),
    ("exp", "expm1"),
    ("log", "log2"),
    ("sqrt", "square"),
    ("triu", "tril"),
    ("cos", "sin"),
    ("softmax", "log_softmax"),
    ("all", "any"),
    ("zeros", "ones"),
    ("zeros_like", "ones_like"),
    ("train", "eval"),
    ("float32", "float64"),
    ("int64", "int32"),
    ("long", "int"),
    ("lt", "le"),
    ("gt", "ge"),
)
NAMES = dict(PAIRS) | {b: a for a, b in PAIRS}
ADDED = ("detach", "float", "double", "half", "long")  # to the result
SYMMETRIC = {"add", "max", "maximum", "min", "minimum", "mul", "swapaxes", "transpose"}  # the order does not matter
MODULES = {"torch", "nn", "F", "math", "functional"}
Changes = Iterator[Any]  # syntax trees to replace a node by


@dataclass(frozen=True)
class Mutant:
    """A correct answer with one change.

    base  name of the correct answer, and a hash of its text
    edit  the changed lines, numbered as in the base's normal form: "line 3: old -> new"
    code  the whole text
    """

    base: str
    edit: str
    code: str

    def __str__(self) -> str:
        return f"{self.base}, {self.edit}"

    @property
    def number(self) -> int:
        """A hash to draw samples by, evenly distributed and equal on every machine."""
        return int.from_bytes(_hash(str(self))[:4], "big")


def sampled(made: Iterable[Mutant], most: int) -> list[Mutant]:
    """At most `most` mutants of each base, independent of the other bases."""
    ranked = sorted(made, key=lambda mutant: (mutant.base, mutant.number))
    return [mutant for _, each in groupby(ranked, key=lambda mutant: mutant.base) for mutant in islice(each, most)]


def mutants(bases: Mapping[str, str], known: Iterable[str] = ()) -> list[Mutant]:
    """All single changes of the correct answers in `bases`, in source order.

    bases  name -> text; equal syntax trees are listed once
    known  answers that are judged anyway: mutants equal to one of them are left out
    """
    seen = set(map(normal, chain(bases.values(), known)))
    made = []
    for name, code in bases.items():
        plain = normal(code)
        base = f"{name} {_hash(plain).hex()[:8]}"
        for changed in _changed_texts(plain):
            if changed not in seen:
                seen.add(changed)
                made.append(Mutant(base, _edit(plain, changed), changed))
    return made


def normal(code: str) -> str:
    """The same code in normal form, without docstrings and annotations of functions."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Module)) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
    return ast.unparse(tree)


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def _edit(before: str, after: str) -> str:
    """The difference between two texts: the lines between those that begin and those that end both."""
    old, new = before.splitlines(), after.splitlines()
    first = next(i for i, (a, b) in enumerate(zip([*old, ""], [*new, ""])) if a != b)
    rest = list(zip(old[:first:-1], new[:first:-1]))
    same = next((i for i, (a, b) in enumerate(rest) if a != b), len(rest))
    gone, come = (" | ".join(line.strip() for line in lines[first : len(lines) - same]) for lines in (old, new))
    return f"line {first + 1}: {gone} -> {come}"


def _changed_texts(code: str) -> Iterator[str]:
    tree = ast.parse(code)
    for holder, key, node in _places(tree):
        for new in _changes(node):
            holder[key] = new
            try:
                yield ast.unparse(
                    ast.parse(ast.unparse(tree))
                )  # normal form: an assembled tree may differ from that of its text
            finally:
                holder[key] = node


def _places(node: ast.AST) -> Iterator[tuple[Any, Any, ast.AST]]:
    """Every node below, and where it hangs: `holder[key]`. Error messages are prose and are not changed."""
    for name, value in ast.iter_fields(node):
        for holder, key in [(vars(node), name)] if isinstance(value, ast.AST) else _items(value):
            yield holder, key, holder[key]
            if not isinstance(holder[key], (ast.Raise, ast.JoinedStr)):
                yield from _places(holder[key])


def _items(value: Any) -> list[tuple[Any, Any]]:
    return [(value, i) for i, v in enumerate(value) if isinstance(v, ast.AST)] if isinstance(value, list) else []


def _changes(node: ast.AST) -> Changes:
    for kinds, change in OPERATORS:
        if isinstance(node, kinds):
            yield from change(node)


def _like(node: ast.AST, **fields: Any) -> Any:
    """A copy with some fields changed; it shares the others."""
    made = copy.copy(node)
    vars(made).update(fields)
    return made


def _operator(node: Any) -> Changes:
    if type(node.op) in BINARY:
        yield _like(node, op=BINARY[type(node.op)]())


def _operands(node: ast.BinOp) -> Changes:
    """Keep one operand; swap the operands of a matrix product."""
    if isinstance(node.op, ast.MatMult):
        yield _like(node, left=node.right, right=node.left)
    else:
        yield from (node.left, node.right)


def _comparison(node: ast.Compare) -> Changes:
    for new in COMPARE[type(node.ops[0])]:
        yield _like(node, ops=[new(), *node.ops[1:]])


def _without_sign(node: ast.UnaryOp) -> Changes:
    yield node.operand


def _constant(node: ast.Constant) -> Changes:
    if isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node.value, (int, float)):
        yield from (ast.Constant(node.value + 1), ast.Constant(node.value - 1))
    elif isinstance(node.value, str) and "->" in node.value and len(node.value.split("->")[1]) > 1:
        yield ast.Constant(node.value[:-2] + node.value[-1] + node.value[-2])  # einsum's result, transposed


def _attribute(node: ast.Attribute) -> Changes:
    if node.attr in NAMES:
        yield _like(node, attr=NAMES[node.attr])
    if node.attr in ("T", "mT", "H", "data"):
        yield node.value


def _function(node: ast.FunctionDef) -> Changes:
    """Swap two neighbouring parameters."""
    names = [a.arg for a in [*node.args.args, *node.args.kwonlyargs] if a.arg not in ("self", "ctx")]
    for old, new in zip(names, [*names[1:], *names[:1]]):
        for holder, key, found in list(_places(node)):
            if old != new and isinstance(found, ast.Name) and found.id == old and isinstance(found.ctx, ast.Load):
                holder[key] = ast.Name(new, ast.Load())
                yield copy.deepcopy(node)
                holder[key] = found


def _call(node: ast.Call) -> Changes:
    """Remove the call, drop one argument, or swap two arguments."""
    function, first = node.func, next(iter(node.args), None)
    name = getattr(function, "attr", getattr(function, "id", ""))
    method = isinstance(function, ast.Attribute) and not _names_a_module(function.value)
    if isinstance(function, ast.Attribute) and method:
        yield function.value
    elif first is not None:
        yield first.value if isinstance(first, ast.Starred) else first
    for place in range(len(node.keywords)):
        yield _like(node, keywords=node.keywords[:place] + node.keywords[place + 1 :])
    if len(node.args) > (not method) and name != "to":  # without arguments it would do nothing, as if removed
        yield _like(node, args=node.args[:-1])
    for i in range(0 if name in SYMMETRIC else len(node.args) - 1):
        yield _like(node, args=[*node.args[:i], node.args[i + 1], node.args[i], *node.args[i + 2 :]])


def _names_a_module(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in MODULES


def _either(node: ast.BoolOp) -> Changes:
    yield _like(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    for i in range(len(node.values)):
        left = node.values[:i] + node.values[i + 1 :]
        yield left[0] if len(left) == 1 else _like(node, values=left)


def _branch(node: Any) -> Changes:
    yield from (_like(node, test=ast.Constant(taken)) for taken in (False, True))


def _returned(node: ast.Return) -> Changes:
    """Detach, cast or transpose the result; of several, keep one or swap two."""
    if not isinstance(node.value, ast.Tuple):
        yield from (_like(node, value=new) for new in _added(node.value) if node.value is not None)
        return
    items = node.value.elts
    for i, item in enumerate(items):
        for new in _added(item):
            yield _like(node, value=ast.Tuple([*items[:i], new, *items[i + 1 :]], ast.Load()))
    for i in range(len(items) - 1):
        yield _like(node, value=ast.Tuple([*items[:i], items[i + 1], items[i], *items[i + 2 :]], ast.Load()))


def _added(value: Any) -> Changes:
    for name in ADDED:
        yield ast.Call(ast.Attribute(value, name, ast.Load()), [], [])
    yield ast.Call(ast.Attribute(value, "transpose", ast.Load()), [ast.Constant(-2), ast.Constant(-1)], [])


def _sliced(node: ast.Slice) -> Changes:
    for end in ("lower", "upper", "step"):
        if getattr(node, end) is not None:
            yield _like(node, **{end: None})


def _loop(node: Any) -> Changes:
    """Skip the first iteration, or the last."""
    all_rounds = ast.List([ast.Starred(node.iter, ast.Load())], ast.Load())
    for ends in (ast.Slice(lower=ast.Constant(1)), ast.Slice(upper=ast.UnaryOp(ast.USub(), ast.Constant(1)))):
        yield _like(node, iter=ast.Subscript(all_rounds, ends, ast.Load()))


def _context(node: ast.With) -> Changes:
    yield ast.If(ast.Constant(True), node.body, [])


def _statement(node: ast.AST) -> Changes:
    yield ast.Pass()


OPERATORS: tuple[tuple[Any, Callable[[Any], Changes]], ...] = (
    ((ast.BinOp, ast.AugAssign), _operator),
    (ast.BinOp, _operands),
    (ast.Compare, _comparison),
    (ast.UnaryOp, _without_sign),
    (ast.Constant, _constant),
    (ast.Attribute, _attribute),
    (ast.FunctionDef, _function),
    (ast.Call, _call),
    (ast.BoolOp, _either),
    ((ast.If, ast.IfExp), _branch),
    (ast.Return, _returned),
    (ast.Slice, _sliced),
    ((ast.For, ast.comprehension), _loop),
    (ast.With, _context),
    ((ast.Expr, ast.Assign, ast.AugAssign, ast.Raise), _statement),
)
