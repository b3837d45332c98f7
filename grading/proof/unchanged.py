"""Mutants that change nothing in any case: a result that is cast to the dtype that it has, or detached without a graph.

A first exercise, whose cases are all of float32 and ask for no gradient, would otherwise have survivors that none of
its cases can catch. The effect of a mutant is observed in the cases, not read from its text.

Does not cover: mutants that are right for other reasons (`equivalents.py`).
"""

from __future__ import annotations

import ast
import copy
import hashlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch

from ..exercises.exercise import Exercise
from .mutants import Mutant
from .mutation_runs import lost

CASTS = {"float": torch.float32, "double": torch.float64, "half": torch.float16, "long": torch.int64}
DETACH = "detach"
MARK = "_what_the_mutant_adds"


def why_unchanged(
    exercise: Exercise, mutant: Mutant, names: Callable[[str], dict[str, Any]], seeds: Iterable[int]
) -> str:
    """Why a mutant that loses nothing is as right as its base, in words; "" where that is not known.

    names  what a notebook defines whose answer is this text
    """
    marked = _marked(mutant)
    if marked is None:
        return ""
    method, code = marked
    same = list[bool]()

    def added(value: Any) -> Any:
        same.append(isinstance(value, torch.Tensor) and _does_nothing(value, method))
        return getattr(value, method)()

    defined = names(code)
    defined[MARK] = added  # the answer looks it up here when it is called
    if any(next(lost(exercise, defined, seed), "") for seed in seeds) or not same or not all(same):
        return ""
    return "It has no gradient in any case." if method == DETACH else f"It is {method} already in every case."


def _does_nothing(value: torch.Tensor, method: str) -> bool:
    return not value.requires_grad if method == DETACH else value.dtype == CASTS[method]


def _marked(mutant: Mutant) -> tuple[str, str] | None:
    """The method that a mutant adds to its base, and its text with MARK(…) in that place; None if it adds none."""
    tree = ast.parse(mutant.code)
    for number, method in enumerate(_methods(tree)):
        without = _replaced(tree, number, marked=False)
        if method in (*CASTS, DETACH) and _hash(without) == mutant.base.rpartition(" ")[2]:
            return method, _replaced(tree, number, marked=True)
    return None


def _methods(tree: ast.AST) -> Iterator[str]:
    """The methods that are called without arguments, in the order in which `_replaced` numbers them."""
    calls: list[Any] = [node for node in ast.walk(tree) if _is_plain(node)]
    return (call.func.attr for call in calls)


def _is_plain(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args and not node.keywords


def _replaced(tree: ast.AST, number: int, *, marked: bool) -> str:
    """The text with MARK(value), or the value alone, in place of one of these calls."""
    tree = copy.deepcopy(tree)
    call: Any = [node for node in ast.walk(tree) if _is_plain(node)][number]
    value = call.func.value
    if marked:
        call.func, call.args = ast.Name(MARK, ast.Load()), [value]
        return ast.unparse(tree)

    class Take(ast.NodeTransformer):
        def visit_Call(self, node: ast.Call) -> Any:
            return value if node is call else self.generic_visit(node)

    return ast.unparse(Take().visit(tree))


def _hash(text: str) -> str:
    """As in the name of a mutant's base."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]
