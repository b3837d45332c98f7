"""Which forbidden functions are seen while a program runs, and in which spellings."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from course.protocol.packing import Node
from course.protocol.program import Program
from course.protocol.running import observe
from course.protocol.watching import is_forbidden

FORBIDDEN = ["log_?softmax", "softmax", "matmul"]


def used_by(function):
    """The forbidden functions that a call of `function` used."""
    steps = [("out", Node("student", {"name": "f"}), [Node("ref", {"name": "x", "path": []})], {})]
    return observe(Program({"x": torch.randn(3, 3)}, steps, ["out"], forbidden=FORBIDDEN), {"f": function}).used


@pytest.mark.parametrize(
    "used",
    [
        lambda x: torch.softmax(x, -1),
        lambda x: F.softmax(x, -1),
        lambda x: x.softmax(-1),
        lambda x: torch.nn.Softmax(-1)(x),
        lambda x: torch.nn.LogSoftmax(-1)(x).exp(),
        lambda x: getattr(torch, "soft" + "max")(x, -1),
        lambda x: torch.special.softmax(x, -1),
        lambda x: torch.ops.aten._softmax(x, -1, False),
        lambda x: torch.ops.aten.softmax.int(x, -1),
        lambda x: x @ x.mT,
        lambda x: torch.Tensor.matmul(x, x.mT),
        lambda x: torch.func.vmap(lambda r: torch.softmax(r, -1))(x),
        lambda x: torch.jit.trace(lambda r: torch.softmax(r, -1), x)(x),
    ],
)
def test_a_forbidden_function_is_seen_in_any_spelling(used):
    assert used_by(used)


def test_what_is_not_forbidden_is_not_noted():
    assert not used_by(lambda x: x.exp() / x.exp().sum(-1, keepdim=True))


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("log_softmax", True),
        ("LogSoftmax", True),
        ("_log_softmax", True),
        ("softmax", True),
        ("softmax_", True),
        ("hardsoftmaxish", False),
        ("exp", False),
    ],
)
def test_names_are_compared_without_underscores_and_case(name, found):
    assert is_forbidden(name, FORBIDDEN) == found
