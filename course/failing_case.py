"""One failing case for a report: what was called, what was expected, what came out.

`check` and the feedback page choose a case by the same rule, and show the same of it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from .harness.compare import leaves
from .harness.descriptions import Description, describe, place_in_words
from .harness.diagnose import Diagnosis
from .harness.difference import Difference, printed
from .harness.messages import Finding
from .harness.program import Observation, Program, calls_in_shapes
from .harness.sentences import PHRASES, as_sentence, general
from .harness.serialization import Node
from .harness.slips import Slip
from .report import WIDTH, Example

MOST_LINES = 4  # of a call that is shown with its numbers


def failing_case(
    call: str, program: Program, seen: Observation, finding: Finding, *, values: bool = True, code: str = ""
) -> Example:
    """Describe a failing case.

    values  whether the expected value is shown. Not of a case that the grade asks unchanged: one could write its
            result down instead of computing it. Of the others the grade draws other numbers.
    code    the learner's lines that raised an exception
    """
    call = _in_few_lines(call, program)
    difference = _change(program, seen, finding) if finding.stage == "unchanged" else finding.difference
    if difference is None or not values:
        problem = finding.text
        if code and seen.raised:
            problem = problem.removesuffix(f", at the line `{seen.raised['line']}`")
        return Example(call, problem, code=code)
    found = printed(difference)
    where = "" if difference.where == "the result" else f"{difference.where.removeprefix('the ')}: "
    return Example(call, f"{where}{found.summary}".rstrip(), found.expected, found.got, list(found.marks))


def _in_few_lines(call: str, program: Program) -> str:
    """A call with its numbers or, if these take too many lines to be read, with shapes in place of its tensors."""
    lines = sum(len(textwrap.wrap(line, WIDTH)) for line in call.splitlines())
    return calls_in_shapes(program) if "tensor(" in call and lines > MOST_LINES else call


def _change(program: Program, seen: Observation, finding: Finding) -> Difference | None:
    """The argument that the call changed in place, before and after."""
    before = {place: value for name, given in program.inputs.items() for place, value in leaves(given, name)}
    for place, now in seen.changed.items():
        was = before.get(place)
        named = f"`{place}`" in finding.text
        if named and isinstance(was, torch.Tensor) and isinstance(now, torch.Tensor) and was.shape == now.shape:
            return Difference(f"`{place}` after the call", was, now, was != now)
    return None


def choose_case(
    failing: Mapping[int, Finding],
    diagnosis: Diagnosis,
    hints: Sequence[Slip],
    telling: Collection[int],
    shown: Collection[int],
    key: Callable[[int], Any],
) -> tuple[int, Diagnosis, Description | None]:
    """The failing case to show, the diagnosis with the hint on this case, and a description if it names nothing.

    failing  the finding of each failing case, by its index
    hints    the common slip in every case
    telling  the cases that the named mistake explains: another one would show something else
    shown    the cases whose right values may be shown
    key      orders the cases; the first is the easiest to follow
    """
    if diagnosis.names:
        return min([i for i in failing if i in telling] or failing, key=key), diagnosis, None
    explained = [i for i in failing if diagnosis.slip and hints[i] == diagnosis.slip]
    if explained and diagnosis.sure:
        case = min(explained, key=key)
        return case, replace(diagnosis, slip=hints[case]), None
    rest = {i: finding for i, finding in failing.items() if i not in explained} or failing
    clearest = min(rest, key=key)
    alike = {i: [f.difference, *f.others] for i, f in rest.items() if f.difference and f.stage == rest[clearest].stage}
    described = describe({i: list(filter(None, parts)) for i, parts in alike.items()}, shown, clearest)
    return min(described.sentences, key=key) if described else clearest, diagnosis, described


def order(program: Program, right: Observation, finding: Finding, shown: bool) -> tuple[bool, bool, bool, int]:
    """The key by which the case that is easiest to follow comes first: of two, the one with fewer numbers.

    An argument that must be refused shows nothing of a result, and NaN hides what was computed.

    shown  whether its right values may be shown
    """
    return right.raised is not None, not shown, finding.stage == "finite", size(program, right)


def headline_for(finding: Finding, example: Example) -> str:
    """A sentence about a case that nothing explains, and that has no description."""
    if finding.difference is not None:
        wrong = "NaN or infinite" if finding.stage == "finite" else "wrong"
        return as_sentence(f"{place_in_words(finding.difference.where)} has {wrong} values")
    if finding.stage in PHRASES:
        return as_sentence(finding.headline or general(finding.stage))
    return as_sentence(finding.text if example.expected else example.problem)


def size(program: Program, right: Observation) -> int:
    """How many numbers a case has in its inputs and its right result: the fewer, the easier it is to follow."""
    return _count([program.inputs, program.steps, right.values])


def _count(value: Any) -> int:
    return sum(_numbers(leaf) for _, leaf in leaves(value))


def _numbers(leaf: Any) -> int:
    if isinstance(leaf, Node):
        return _count(leaf.fields)
    return leaf.numel() if isinstance(leaf, torch.Tensor) else 1
