"""The stages, in their order: each kind of wrong answer is told by the first stage that it misses."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from course.harness.compare import Reference, compare
from course.harness.diagnose import MistakeOutcomes, diagnose
from course.harness.messages import Finding
from course.harness.options import Options
from course.harness.program import Observation, Program
from course.harness.runner import observe
from course.harness.serialization import Node


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
    own = {
        name: options.pop(name) for name in ("wrong_arguments", "input_magnitude", "result_names") if name in options
    }
    return Reference(exact, seen(function, *tensors, gradients=gradients), Options(**options), **own)


X = torch.tensor([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]])


def right(x):
    return torch.softmax(x, -1)


def test_the_items_of_a_result_are_called_by_their_names_where_they_are_as_many():
    def both(x):
        return right(x), x.sum()

    wrong = seen(lambda x: (right(x), x.sum() + 1), X)
    for parts, told in {("weights", "total"): "`total`: ", (): "result[1]: ", ("a",): "result[1]: "}.items():
        assert compare(wrong, reference(both, X, result_names=parts)).text.startswith(told)


@pytest.mark.parametrize(
    ("stage", "wrong"),
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
def test_a_wrong_result_is_reported_by_its_first_stage(stage, wrong):
    finding = compare(seen(wrong, X), reference(right, X))
    assert finding is not None
    assert finding.stage == stage, finding


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
    assert compare(seen(lambda x: x.sum(), X), reference(lambda x: x.sum(-1), X)).stage == "shape"
    assert compare(seen(lambda x: x.sum(-1, keepdim=True), X), reference(lambda x: x.sum(-1), X)).stage == "shape"


@pytest.mark.parametrize(
    "wrong",
    [
        lambda x: right(x).detach(),
        lambda x: right(x) + 0 * right(x).detach() - (right(x) - right(x).detach()),
        lambda x: torch.softmax(x.detach() + 0.5 * (x - x.detach()), -1),
    ],
)
def test_right_values_with_a_wrong_gradient_miss_the_gradient_stage(wrong):
    assert compare(seen(wrong, X, gradients=True), reference(right, X, gradients=True)).stage == "gradient"


def test_a_changed_argument_is_found_unless_it_may_change():
    def in_place(x):
        return torch.softmax(x.sub_(x.amax(-1, keepdim=True)), -1)

    assert compare(seen(in_place, X.clone()), reference(right, X)).stage == "unchanged"
    assert compare(seen(in_place, X.clone()), reference(right, X, may_mutate=frozenset({"x0"}))) is None


def test_a_dict_is_the_same_in_any_order():
    one, other = (dict(sorted({"a": X, "b": X + 1, "c": {"d": 2.0, "e": 3}}.items(), reverse=r)) for r in (False, True))
    assert list(one) != list(other)
    assert compare(seen(lambda x: other, X), reference(lambda x: one, X)) is None
    assert compare(seen(lambda x: other | {"a": X + 1, "b": X}, X), reference(lambda x: one, X)).stage == "values"
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
    assert compare(seen(lambda x: torch.log(torch.softmax(x, -1) + 1e-9), scores), ref).stage == "values"


def error(kind, text):
    def raising(x):
        raise kind(text)

    return raising


@pytest.mark.parametrize(
    ("kind", "text", "stage"),
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
def test_an_error_must_be_of_its_type_and_name_the_argument_and_its_value(kind, text, stage):
    ref = reference(error(ValueError, "n_heads 3"), X, wrong_arguments={"n_heads": 3})
    finding = compare(seen(error(kind, text), X), ref)
    assert (finding.stage if finding else None) == stage, finding


def test_a_subclass_of_the_error_will_do():
    class Mine(ValueError):
        pass

    ref = reference(error(ValueError, "x0"), X, wrong_arguments={"x0": X})
    assert compare(seen(error(Mine, "x0 has the shape (2, 3)"), X), ref) is None
    assert compare(seen(error(Mine, "x0 has the shape (3, 2)"), X), ref).stage == "message"


def test_no_finding_tells_an_expected_value():
    secret = torch.tensor([0.123456, 7.654321])
    finding = compare(seen(lambda x: torch.zeros(2), X), reference(lambda x: secret.to(x.dtype), X))
    assert "0.1234" not in finding.text
    assert "2 of 2" in finding.text


def named(one, outcomes):
    """The mistake that is named for one wrong case, where every known mistake is wrong in it."""
    known = [MistakeOutcomes(name, seen_of_it, frozenset([0])) for name, seen_of_it in outcomes.items()]
    found = diagnose([one], [Finding("values", "not right")], [[0]], known)
    return found.names[0] if found.names and found.sure else None


def test_a_mistake_is_named_only_if_it_alone_explains_the_observation():
    outcomes = {
        "columns": [seen(lambda x: torch.softmax(x, 0), X)],
        "doubled": [seen(lambda x: right(2 * x), X)],
    }
    assert named(seen(lambda x: torch.softmax(x, -2), X), outcomes) == "columns"
    assert named(seen(lambda x: x, X), outcomes) is None
    assert named(seen(lambda x: torch.softmax(x, 0), X), {**outcomes, "same": outcomes["columns"]}) is None


def test_a_mistake_that_raises_is_named_whatever_its_own_message_says():
    def raised(kind, message, line):
        return Observation(raised={"type": kind, "bases": [kind], "message": message, "line": line})

    outcomes = {
        "asserts": [raised("AssertionError", "it must be a batch", "")],
        "stretches": [raised("RuntimeError", "3 must match 4", "")],
    }
    own = raised("AssertionError", "three, please", "assert x.ndim == 3, 'three, please'")
    assert named(own, outcomes) == "asserts"
    assert named(raised("AssertionError", "deep inside a library", "return f(x)"), outcomes) is None
    assert named(raised("RuntimeError", "5 must match 6", "return a * b"), outcomes) is None
    assert named(raised("TypeError", "no", "raise TypeError('no')"), outcomes) is None


def test_the_value_of_a_tensor_names_it_as_well_as_its_shape():
    def refuses(text):
        def answer(x):
            raise ValueError(text.format(x=x))

        return answer

    expected = reference(refuses(""), X, wrong_arguments={"x": X})
    assert compare(seen(refuses("x is {x}"), X), expected) is None
    assert compare(seen(refuses("x is not {x.ndim}"), X), expected).stage == "message"


def shares(x):
    return right(x)


def largest(x):
    return x.argmax(-1)


def is_large(x):
    return x > 0


def count(x):
    return x.numel()


def mean(x):
    return float(x.mean())


def positive(x):
    return bool(x.sum() > 0)


def total(x):
    return x.sum()


SLIPS = [
    (shares, "dtype", lambda x: shares(x).double()),
    (largest, "dtype", lambda x: largest(x).int()),
    (largest, "dtype", lambda x: largest(x).double()),
    (is_large, "dtype", lambda x: is_large(x).float()),
    (is_large, "dtype", lambda x: is_large(x).to(torch.uint8)),
    (count, "type", lambda x: np.int64(count(x))),
    (count, "type", lambda x: torch.tensor(count(x))),
    (count, "type", lambda x: float(count(x))),
    (mean, "type", lambda x: np.float32(mean(x))),
    (mean, "type", lambda x: x.mean()),
    (positive, "type", lambda x: np.bool_(positive(x))),
    (positive, "type", lambda x: x.sum() > 0),
    (positive, "type", lambda x: int(positive(x))),
    (total, "type", lambda x: total(x).item()),
    (total, "type", lambda x: np.float64(x.numpy().sum()) * np.float32(1)),
]


@pytest.mark.parametrize(("function", "stage", "slip"), SLIPS)
def test_a_slip_of_form_is_found_where_form_is_judged_and_nowhere_else(function, stage, slip):
    assert compare(seen(slip, X), reference(function, X)).stage == stage
    assert compare(seen(slip, X), reference(function, X, check_types=False)) is None


@pytest.mark.parametrize("dtype", [torch.half, torch.bfloat16])
def test_half_precision_counts_as_wrong_numbers_rather_than_a_wrong_type(dtype):
    assert compare(seen(lambda x: shares(x).to(dtype), X), reference(shares, X, check_types=False)).stage == "values"


@pytest.mark.parametrize("function", [shares, largest, is_large, count, mean, positive, total])
@pytest.mark.parametrize(
    "wrong",
    [
        lambda x: None,
        lambda x: str(x),
        lambda x: x.numpy(),
        lambda x: [x],
        lambda x: x[0],
        lambda x: 7 * x,
        lambda x: np.float64(0.4),
        lambda x: np.int64(-3),
        lambda x: np.str_("right"),
        lambda x: np.float64("nan") * np.float32(1),
        lambda x: np.datetime64("2020-01-01"),
        lambda x: 2**200,
        lambda x: math.inf,
        lambda x: torch.tensor(torch.nan),
        lambda x: torch.tensor(1j),
        lambda x: np.add,
    ],
)
def test_what_is_more_than_a_slip_of_form_is_found_everywhere(function, wrong):
    assert compare(seen(wrong, X), reference(function, X, check_types=False)) is not None


def test_a_converted_result_is_shown_as_it_was_returned():
    found = compare(seen(lambda x: (x <= 2).float(), X), reference(lambda x: x > 2, X, check_types=False))
    assert found.difference.got.dtype == torch.float32
    assert found.difference.expected.dtype == torch.bool


def test_a_slip_of_form_is_compared_with_the_tolerance_of_float32():
    def rounding(x):
        return shares(x.float() + 100)

    x = X.double() / 0.3
    by_float32 = reference(shares, x, check_types=False)
    assert compare(seen(rounding, x), by_float32) is None
    assert compare(seen(lambda x: rounding(x).double(), x), by_float32) is None
    assert compare(seen(lambda x: rounding(x).double(), x), reference(shares, x)).stage == "values"
    assert compare(seen(lambda x: shares(x) + 1e-3, x), by_float32).stage == "values"
    assert compare(seen(lambda x: shares(x).half() + 0.1, X), reference(shares, X, check_types=False)).stage == "values"


def test_the_gradient_through_a_result_of_another_dtype_is_judged():
    exact = reference(shares, X, gradients=True, check_types=False)
    assert compare(seen(lambda x: shares(x).double(), X, gradients=True), exact) is None
    other = seen(lambda x: shares(x).double().detach() + 0 * x, X, gradients=True)
    assert compare(other, exact).stage == "gradient"
    assert compare(seen(lambda x: x.sum().item(), X), reference(total, X, check_types=False)) is None


def test_forms_are_put_right_within_tuples_and_dicts():
    def both(x):
        return {"a": (shares(x), count(x))}

    other = seen(lambda x: {"a": [shares(x).double(), np.int64(count(x))]}, X)
    assert compare(other, reference(both, X, check_types=False)) is None
    assert compare(other, reference(both, X)).stage == "type"
    assert compare(seen(lambda x: {"a": (shares(x),)}, X), reference(both, X, check_types=False)).stage == "structure"


@pytest.mark.parametrize(
    ("found", "wanted", "told"),
    [
        (True, False, "expected False, got True"),
        (7, 12, "got 7, which is too small"),
        (-3, -12, "got -3, which is too large"),
        pytest.param(2**20000, 3, "got a number with many digits, which is too large", id="large"),
        ("left", "right", "got 'left', which is wrong"),
        ([0, 2], [0, 4], "result[1]: got 2, which is wrong"),
    ],
)
def test_a_wrong_answer_of_one_word_is_reported(found, wanted, told):
    finding = compare(seen(lambda x: found, X), reference(lambda x: wanted, X))
    assert (finding.stage, finding.text) == ("values", told)


def test_where_all_is_zero_the_size_of_the_inputs_says_how_far_rounding_may_reach():
    def nothing(x):
        return x.sum() * 0

    off = [lambda x, by=by: nothing(x) + by for by in (1e-6, 1e-5)]
    found = [compare(seen(one, X), reference(nothing, X, input_magnitude=4.0)) for one in off]
    assert found[0] is None
    assert found[1].stage == "values"
    assert compare(seen(off[0], X), reference(nothing, X, input_magnitude=0.0)).stage == "values"
    in_float64 = [compare(seen(one, X.double()), reference(nothing, X.double(), input_magnitude=4.0)) for one in off]
    assert [finding.stage for finding in in_float64] == ["values", "values"]
    assert compare(
        seen(lambda x: x.sum() * 1e-8 + 1e-6, X), reference(lambda x: x.sum() * 1e-8, X, input_magnitude=4.0)
    )
