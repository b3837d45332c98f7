"""Advice on shapes that an operation of torch refused: which ones, and what would make them fit.

Does not cover: other errors (`advice.py`), results of a wrong shape (`messages.py`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

Shape = tuple[int, ...]

OPERATORS: dict[type[ast.AST], str] = {
    ast.Mult: "*",
    ast.Add: "+",
    ast.Sub: "-",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
NAMES = (  # torch's, in order
    *("mul", "add", "sub", "div", "floordiv", "remainder", "pow", "and", "or", "xor"),
    *("eq", "ne", "lt", "le", "gt", "ge"),
)
SIGNS = dict(zip(NAMES, OPERATORS.values(), strict=True)) | {"truediv": "/", "rsub": "-"}
PRODUCTS = ("matmul", "rmatmul", "mm", "bmm", "mv")
REDUCTIONS = ("sum", "mean", "amax", "amin", "max", "min", "norm", "std", "var", "prod", "logsumexp", "all", "any")
BROADCAST = r"must match the (existing )?size|broadcast"
MULTIPLY = (
    r"shapes cannot be multiplied|size mismatch, got|batch1 and batch2|of batch2 tensor|vector \+ matrix|"
    r"both arguments to (linear|matmul)|inconsistent tensor size|1D tensors expected|"
    r"expected (a|2D|1D) (matrix|tensor|.*vectors)"
)
PAIRS = "Sizes are compared from the right, and in each pair they must be equal or one of them 1."
PRODUCT = "`A @ B` takes A as (..., n, k) and B as (..., k, m): the last size of A must equal the second-to-last of B."


def shape_advice(raised: Mapping[str, Any]) -> tuple[str, str]:
    """The kind of a misfit, equal for all shapes, and the sentences on it; empty for another error.

    raised  an exception's record, with the operation that raised it and the shapes of its tensors where they are known
    """
    multiplies = bool(re.search(MULTIPLY, raised["message"]))
    if not (multiplies or re.search(BROADCAST, raised["message"])):
        return "", ""
    name, shapes = raised.get("operation", "").strip("_"), [tuple(shape) for shape in raised.get("shapes", [])]
    if name == "linear" and len(shapes) > 1:
        wide = f"A linear layer for inputs of width {shapes[1][-1]} got the shape {shapes[0]}"
        return "linear", f"{wide}. The last size must be the width."
    if name in PRODUCTS and len(shapes) == 2:
        return "product", f"`@` cannot multiply the shapes {shapes[0]} and {shapes[1]}. {_product_that_fits(*shapes)}"
    if name == "setitem" and shapes:
        return "assignment", f"A tensor of shape {shapes[-1]} does not fit where you assign it. {PAIRS}"
    if multiplies:
        return "product", f"The sizes in a matrix product do not fit. {PRODUCT}"
    for (i, first), (j, second) in combinations(enumerate(shapes), 2):
        if not _broadcast(first, second):
            sign = SIGNS.get(name, name)
            cure = _cure(sign, (i, first), (j, second), raised["line"])
            return "broadcast", f"`{sign}` cannot combine the shapes {first} and {second}. {cure}"
    return "broadcast", f"Two shapes do not broadcast. {PAIRS}"


def _cure(sign: str, first: tuple[int, Shape], second: tuple[int, Shape], line: str) -> str:
    """A change that makes two operands fit, or else the rule. Each is given by its number and its shape."""
    shapes = first[1], second[1]
    if sign == "*" and _multiply(*shapes):
        return "`*` works entry by entry; the matrix product `@` would fit these shapes."
    if len(shapes[0]) == len(shapes[1]) == 1:
        return "`[:, None]` makes a column of one of them, and then each of its entries meets every entry of the other."
    for which, (_, long), (number, short) in (("second", first, second), ("first", second, first)):
        missing = [d for d in range(1, len(long)) if (*long[:d], *long[d + 1 :]) == short]
        if missing and _reduces(line, sign, number):
            return f"The {which} has lost a dimension; `keepdim=True` keeps it, with the size 1."
        if missing:
            before = ":" if len(short) == 1 else "..."
            place = ", ".join([before, "None", *[":"] * (len(long) - 1 - missing[-1])])
            return f"The {which} has one dimension fewer; `[{place}]` adds one of size 1."
    if len(shapes[0]) == len(shapes[1]) and _broadcast(shapes[0], _turned(shapes[1])):
        return "With its last two dimensions swapped (`.mT`), the second would fit."
    return PAIRS


def _product_that_fits(first: Shape, second: Shape) -> str:
    for which, a, b in (("second", first, _turned(second)), ("first", _turned(first), second)):
        if len(a) > 1 and len(b) > 1 and _multiply(a, b):
            return f"With its last two dimensions swapped (`.mT`), the {which} would fit."
    return "Entry by entry, `*` would fit." if _broadcast(first, second) else PRODUCT


def _turned(shape: Shape) -> Shape:
    return (*shape[:-2], *reversed(shape[-2:]))


def _multiply(first: Shape, second: Shape) -> bool:
    """Whether `@` takes these shapes."""
    if not first or not second:
        return False
    return first[-1] == second[-2:][0] and _broadcast(first[:-2], second[:-2])


def _broadcast(first: Shape, second: Shape) -> bool:
    return all(a == b or 1 in (a, b) for a, b in zip(reversed(first), reversed(second), strict=False))


def _reduces(line: str, sign: str, number: int) -> bool:
    """Whether this operand of the operator or function `sign` is a sum or the like, which keeps no dimension."""
    try:
        tree = ast.parse(f"{line} pass" if line.endswith(":") else line)
    except (SyntaxError, ValueError):  # one line of a longer statement
        return False
    operands = [found[number] for node in ast.walk(tree) if len(found := _operands(node, sign)) > number]
    return any(_name(call) in REDUCTIONS and "keepdim" not in ast.unparse(call) for o in operands for call in _calls(o))


def _operands(node: ast.AST, sign: str) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and OPERATORS.get(type(node.op)) == sign:
        return [node.left, node.right]
    if isinstance(node, ast.AugAssign) and OPERATORS.get(type(node.op)) == sign:
        return [node.target, node.value]
    if isinstance(node, ast.Compare) and OPERATORS.get(type(node.ops[0])) == sign:
        return [node.left, *node.comparators]
    if isinstance(node, ast.Call) and _name(node) == sign:
        torchs = isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) not in ("torch", "F")
        return [*([node.func.value] if torchs and isinstance(node.func, ast.Attribute) else []), *node.args]
    return []


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    """The calls that make this value, up to operations entry by entry: of `(x.exp().sum(1) + 1).log()` all three."""
    if isinstance(node, ast.Call):
        yield node
        receiver = node.func.value if isinstance(node.func, ast.Attribute) else None
        if receiver is not None and ast.unparse(receiver) not in ("torch", "F"):
            yield from _calls(receiver)
        elif node.args:
            yield from _calls(node.args[0])
    for part in ("operand", "left", "right"):
        if isinstance(inner := getattr(node, part, None), ast.AST):
            yield from _calls(inner)


def _name(call: ast.Call) -> str:
    return getattr(call.func, "attr", getattr(call.func, "id", ""))
