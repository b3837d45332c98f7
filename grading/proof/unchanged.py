"""Mutants whose added method changes nothing in any case.

A first exercise, whose cases are all of float32 and ask for no gradient, would otherwise have survivors that none of
its cases can catch. The effect of a mutant is observed in the cases, not read from its text.

Does not cover: mutants that are correct for other reasons (`equivalents.py`).
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
from .mutation_runs import lost_criteria

CASTS = {"float": torch.float32, "double": torch.float64, "half": torch.float16, "long": torch.int64}
DETACH = "detach"
MARK = "_what_the_mutant_adds"


def why_unchanged(
    exercise: Exercise, mutant: Mutant, names: Callable[[str], dict[str, Any]], seeds: Iterable[int]
) -> str:
    """Say why a mutant that loses nothing is as correct as its base; "" if unknown.

    names  gives the names that a notebook defines whose answer is this text
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
    if any(next(lost_criteria(exercise, defined, seed), "") for seed in seeds) or not same or not all(same):
        return ""
    return "It has no gradient in any case." if method == DETACH else f"It is {method} already in every case."


def _does_nothing(value: torch.Tensor, method: str) -> bool:
    return not value.requires_grad if method == DETACH else value.dtype == CASTS[method]


def _marked(mutant: Mutant) -> tuple[str, str] | None:
    """The method that a mutant adds, and its text with MARK(…) instead; None if none."""
    tree = ast.parse(mutant.code)
    for number, method in enumerate(_methods(tree)):
        without = _replaced(tree, number, marked=False)
        if method in (*CASTS, DETACH) and _hash(without) == mutant.base.rpartition(" ")[2]:
            return method, _replaced(tree, number, marked=True)
    return None


def _methods(tree: ast.AST) -> Iterator[str]:
    """Methods called without arguments, in the order in which `_replaced` counts them."""
    calls: list[Any] = [node for node in ast.walk(tree) if _is_plain(node)]
    return (call.func.attr for call in calls)


def _is_plain(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args and not node.keywords


def _replaced(tree: ast.AST, number: int, *, marked: bool) -> str:
    """The text with one of these calls replaced by MARK(value), or by the value."""
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
    """A text's hash, as in the name of a mutant's base."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]
