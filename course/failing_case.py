"""One failing case for a report: what was called, what was expected, what came out.

`check` and the feedback page show the same of a case. Does not cover: which case is shown (the callers).
"""

from __future__ import annotations

from typing import Any

import torch

from .harness.compare import leaves
from .harness.difference import Difference, printed
from .harness.messages import Finding
from .harness.program import Observation, Program
from .harness.sentences import PHRASES, as_sentence, general
from .harness.serialization import Node
from .report import Example


def failing_case(
    call: str, program: Program, seen: Observation, finding: Finding, *, values: bool = True, code: str = ""
) -> Example:
    """Describe a failing case.

    values  whether the expected value is shown. Not of a case that the grade asks unchanged: one could write its
            result down instead of computing it. Of the others the grade draws other numbers.
    code    the learner's lines that raised an exception
    """
    difference = _change(program, seen, finding) if finding.stage == "unchanged" else finding.difference
    if difference is None or not values:
        problem = finding.text
        if code and seen.raised:
            problem = problem.removesuffix(f", at the line `{seen.raised['line']}`")
        return Example(call, problem, code=code)
    found = printed(difference)
    where = "" if difference.where == "the result" else f"{difference.where.removeprefix('the ')}: "
    return Example(call, f"{where}{found.summary}".rstrip(), found.expected, found.got, list(found.marks))


def _change(program: Program, seen: Observation, finding: Finding) -> Difference | None:
    """The argument that the call changed in place, before and after."""
    before = {place: value for name, given in program.inputs.items() for place, value in leaves(given, name)}
    for place, now in seen.changed.items():
        was = before.get(place)
        named = f"`{place}`" in finding.text
        if named and isinstance(was, torch.Tensor) and isinstance(now, torch.Tensor) and was.shape == now.shape:
            return Difference(f"`{place}` after the call", was, now, was != now)
    return None


def headline_for(finding: Finding, example: Example) -> str:
    """A sentence about a case that no known mistake and no common slip explains."""
    if (difference := finding.difference) is not None:
        return as_sentence(
            f"{difference.where} has {'NaN or infinite' if finding.stage == 'finite' else 'wrong'} values"
        )
    return as_sentence(
        general(finding.stage) if finding.stage in PHRASES else finding.text if example.expected else example.problem
    )


def size(program: Program, right: Observation) -> int:
    """How many numbers a case has in its inputs and its right result: the fewer, the easier it is to follow."""
    return _count([program.inputs, program.steps, right.values])


def _count(value: Any) -> int:
    return sum(_numbers(leaf) for _, leaf in leaves(value))


def _numbers(leaf: Any) -> int:
    if isinstance(leaf, Node):
        return _count(leaf.fields)
    return leaf.numel() if isinstance(leaf, torch.Tensor) else 1
