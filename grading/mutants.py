"""Small wrong versions of a right answer: one operator, number, name or argument changed at a time.

A grader that a mutant slips past has a case missing, unless the mutant is equivalent.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator

BINARY: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
COMPARE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
NAMES = {
    "amax": "amin",
    "sum": "mean",
    "mean": "sum",
    "max": "min",
    "argmax": "argmin",
    "exp": "expm1",
    "log": "log2",
    "sqrt": "square",
    "triu": "tril",
    "tril": "triu",
    "cos": "sin",
    "sin": "cos",
    "softmax": "log_softmax",
    "all": "any",
    "any": "all",
    "zeros": "ones",
    "ones": "zeros",
    "query": "key",
    "key": "value",
    "W_q": "W_k",
}


def mutants(code: str) -> Iterator[tuple[str, str]]:
    """(what was changed and where, the changed code), for every single change that applies."""
    tree = ast.parse(code)
    for index, node in enumerate(ast.walk(tree)):
        for what, change in _changes(node):
            mutant = copy.deepcopy(tree)
            target = next(n for i, n in enumerate(ast.walk(mutant)) if i == index)
            change(target)
            changed = ast.unparse(ast.fix_missing_locations(mutant))
            if changed != ast.unparse(tree):
                where = ast.unparse(node).splitlines()[0][:60]
                yield f"line {getattr(node, 'lineno', 0)}: {what} in `{where}`", changed


def _changes(node: ast.AST) -> Iterator[tuple[str, Callable[..., object]]]:
    if isinstance(node, (ast.BinOp, ast.AugAssign)) and type(node.op) in BINARY:
        new = BINARY[type(node.op)]
        yield f"{type(node.op).__name__} -> {new.__name__}", lambda n: setattr(n, "op", new())
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARE:
        swapped = COMPARE[type(node.ops[0])]
        yield f"-> {swapped.__name__}", lambda n: setattr(n, "ops", [swapped(), *n.ops[1:]])
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Not, ast.Invert)):
        yield (
            "sign or `not` dropped",
            lambda n: (
                setattr(n, "op", ast.UAdd())
                if isinstance(n.op, ast.USub)
                else n.__dict__.update(op=ast.Not(), operand=ast.UnaryOp(ast.Not(), n.operand))
            ),
        )
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield "number + 1", lambda n: setattr(n, "value", n.value + 1)
    if isinstance(node, ast.Constant) and type(node.value) is bool:
        yield "opposite", lambda n: setattr(n, "value", not n.value)
    if isinstance(node, ast.Attribute) and node.attr in NAMES:
        yield f"{node.attr} -> {NAMES[node.attr]}", lambda n: setattr(n, "attr", NAMES[n.attr])
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in NAMES:
        yield f"{node.id} -> {NAMES[node.id]}", lambda n: setattr(n, "id", NAMES[n.id])
    if isinstance(node, ast.Call):
        for place, keyword in enumerate(node.keywords):
            yield f"without {keyword.arg}=", lambda n, place=place: n.keywords.pop(place)
        if len(node.args) == 2 and not any(isinstance(a, ast.Starred) for a in node.args):
            yield "arguments swapped", lambda n: n.args.reverse()
    if isinstance(node, ast.BoolOp):
        yield "and <-> or", lambda n: setattr(n, "op", ast.Or() if isinstance(n.op, ast.And) else ast.And())
    if isinstance(node, ast.If):
        yield "branch never taken", lambda n: setattr(n, "test", ast.Constant(False))
