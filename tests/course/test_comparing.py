"""The rungs, in their order: each kind of wrong answer is told by the first rung that it misses."""

from __future__ import annotations

import math

import pytest
import torch

from course.protocol.comparing import Reference, compare
from course.protocol.diagnosing import explain
from course.protocol.packing import Node
from course.protocol.program import Observation, Program
from course.protocol.running import observe


def seen(function, *tensors, gradients=False, dtype=None):
    inputs = {f"x{i}": t if dtype is None or not t.is_floating_point() else t.to(dtype) for i, t in enumerate(tensors)}
    target, args = Node("student", {"name": "f"}), [Node("ref", {"name": n, "path": []}) for n in inputs]
    cotangents = None
    if gradients:
        with torch.no_grad():
            shape = function(*tensors).shape
        cotangents = [torch.linspace(-1, 2, math.prod(shape)).reshape(shape)]
    return observe(Program(inputs, [("out", target, args, {})], ["out"], cotangents), {"f": function})


def reference(function, *tensors, **options):
    gradients = options.pop("gradients", False)
    exact = seen(function, *tensors, gradients=gradients, dtype=torch.float64)
    return Reference(exact, seen(function, *tensors, gradients=gradients), **options)


X = torch.tensor([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]])


def right(x):
    return torch.softmax(x, -1)


@pytest.mark.parametrize(
    ("rung", "wrong"),
    [
        ("raised", lambda x: 1 / 0),
        ("type", lambda x: None),
        ("type", lambda x: right(x).tolist()),
        ("type", lambda x: right(x).numpy()),
        ("shape", lambda x: right(x)[0]),
        ("shape", lambda x: right(x)[None]),
        ("dtype", lambda x: right(x).double()),
        ("finite", lambda x: right(x) * torch.nan),
        ("finite", lambda x: right(x) / 0),
        ("values", lambda x: right(x) + torch.tensor([[0.0, 0.0, 1e-3], [0.0, 0.0, 0.0]])),
        ("values", lambda x: right(-x)),
    ],
)
def test_a_wrong_result_is_told_by_its_first_rung(rung, wrong):
    finding = compare(seen(wrong, X), reference(right, X))
    assert finding is not None
    assert finding.rung == rung, finding


@pytest.mark.parametrize(
    "other",
    [
        lambda x: (x - x.max()).exp() / (x - x.max()).exp().sum(-1, keepdim=True),
        lambda x: torch.stack([torch.softmax(row, 0) for row in x]),
        lambda x: torch.softmax(x.double(), -1).float(),
        lambda x: torch.softmax(x.T, 0).T,
    ],
)
def test_a_right_result_by_another_way_passes(other):
    assert compare(seen(other, X, gradients=True), reference(right, X, gradients=True)) is None


def test_nothing_is_broadcast():
    assert compare(seen(lambda x: x.sum(), X), reference(lambda x: x.sum(-1), X)).rung == "shape"
    assert compare(seen(lambda x: x.sum(-1, keepdim=True), X), reference(lambda x: x.sum(-1), X)).rung == "shape"


@pytest.mark.parametrize(
    "wrong",
    [
        lambda x: right(x).detach(),
        lambda x: right(x) + 0 * right(x).detach() - (right(x) - right(x).detach()),
        lambda x: torch.softmax(x.detach() + 0.5 * (x - x.detach()), -1),
    ],
)
def test_right_values_with_a_wrong_gradient_miss_the_gradient_rung(wrong):
    assert compare(seen(wrong, X, gradients=True), reference(right, X, gradients=True)).rung == "gradient"


def test_a_changed_argument_is_found_only_where_purity_is_judged():
    def in_place(x):
        return torch.softmax(x.sub_(x.amax(-1, keepdim=True)), -1)

    assert compare(seen(in_place, X.clone()), reference(right, X)) is None
    assert compare(seen(in_place, X.clone()), reference(right, X, pure=True)).rung == "unchanged"


def test_a_dict_is_the_same_in_any_order():
    one, other = (dict(sorted({"a": X, "b": X + 1, "c": {"d": 2.0, "e": 3}}.items(), reverse=r)) for r in (False, True))
    assert list(one) != list(other)
    assert compare(seen(lambda x: other, X), reference(lambda x: one, X)) is None
    assert compare(seen(lambda x: other | {"a": X + 1, "b": X}, X), reference(lambda x: one, X)).rung == "values"
    told = Observation(values={"out": other})  # as a kernel may send it
    assert compare(told, reference(lambda x: one, X)) is None


def test_gradients_of_a_dict_are_asked_in_the_order_of_its_keys():
    def right(x):
        return {"a": x * 2, "b": x * 3}

    def turned(x):
        return dict(reversed(right(x).items()))

    found = []
    for function in (right, turned):
        steps = [("out", Node("student", {"name": "f"}), [Node("ref", {"name": "x", "path": []})], {})]
        program = Program({"x": X}, steps, ["out"], [torch.ones_like(X), torch.full_like(X, 10.0)])
        found.append(observe(program, {"f": function}).gradients["x"])
    assert torch.equal(*found)


def test_equal_infinities_are_right_and_others_are_not():
    scores = torch.tensor([[0.0, -torch.inf]])
    ref = reference(lambda x: torch.log_softmax(x, -1), scores)
    assert compare(seen(lambda x: torch.log_softmax(x, -1), scores), ref) is None
    assert compare(seen(lambda x: torch.log(torch.softmax(x, -1) + 1e-9), scores), ref).rung == "values"


def error(kind, text):
    def raising(x):
        raise kind(text)

    return raising


@pytest.mark.parametrize(
    ("kind", "text", "rung"),
    [
        (ValueError, "n_heads must divide 10, not 3", None),
        (ValueError, "n_heads=3 does not divide 10", None),
        (ValueError, "N_heads must divide 10, and it is 3", None),
        (ValueError, "", "message"),
        (ValueError, "bad heads: 3", "message"),
        (ValueError, "n_heads is wrong", "message"),
        (ValueError, "my_n_heads_2 is 3", "message"),
        (TypeError, "n_heads must not be 3", "raised"),
        (AssertionError, "n_heads 3", "raised"),
    ],
)
def test_an_error_must_be_of_its_type_and_name_the_argument_and_its_value(kind, text, rung):
    ref = reference(error(ValueError, "n_heads 3"), X, wrong={"n_heads": 3})
    finding = compare(seen(error(kind, text), X), ref)
    assert (finding.rung if finding else None) == rung, finding


def test_a_subclass_of_the_error_will_do():
    class Mine(ValueError):
        pass

    ref = reference(error(ValueError, "x0"), X, wrong={"x0": X})
    assert compare(seen(error(Mine, "x0 has the shape (2, 3)"), X), ref) is None
    assert compare(seen(error(Mine, "x0 has the shape (3, 2)"), X), ref).rung == "message"


def test_no_finding_tells_an_expected_value():
    secret = torch.tensor([0.123456, 7.654321])
    finding = compare(seen(lambda x: torch.zeros(2), X), reference(lambda x: secret.to(x.dtype), X))
    assert "0.1234" not in finding.text
    assert "2 / 2" in finding.text


def test_a_mistake_is_named_only_where_it_alone_explains_what_was_seen():
    outcomes = {
        "columns": [seen(lambda x: torch.softmax(x, 0), X)],
        "doubled": [seen(lambda x: right(2 * x), X)],
    }
    assert explain([seen(lambda x: torch.softmax(x, -2), X)], [0], outcomes) == "columns"
    assert explain([seen(lambda x: x, X)], [0], outcomes) is None
    assert explain([seen(lambda x: torch.softmax(x, 0), X)], [0], {**outcomes, "same": outcomes["columns"]}) is None
    assert explain([Observation()], [], outcomes) is None


def test_a_mistake_that_raises_is_named_whatever_its_own_message_says():
    def raised(kind, message, line):
        return Observation(raised={"type": kind, "bases": [kind], "message": message, "line": line})

    outcomes = {
        "asserts": [raised("AssertionError", "it must be a batch", "")],
        "stretches": [raised("RuntimeError", "3 must match 4", "")],
    }
    own = raised("AssertionError", "three, please", "assert x.ndim == 3, 'three, please'")
    assert explain([own], [0], outcomes) == "asserts"
    assert explain([raised("AssertionError", "deep inside a library", "return f(x)")], [0], outcomes) is None
    assert explain([raised("RuntimeError", "5 must match 6", "return a * b")], [0], outcomes) is None
    assert explain([raised("TypeError", "no", "raise TypeError('no')")], [0], outcomes) is None


def test_the_value_of_a_tensor_names_it_as_well_as_its_shape():
    def refuses(text):
        def answer(x):
            raise ValueError(text.format(x=x))

        return answer

    expected = reference(refuses(""), X, wrong={"x": X})
    assert compare(seen(refuses("x is {x}"), X), expected) is None
    assert compare(seen(refuses("x is not {x.ndim}"), X), expected).rung == "message"
