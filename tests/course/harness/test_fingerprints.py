"""Sketches tell outcomes apart as the outcomes themselves do, and hold none of their numbers."""

from __future__ import annotations

import json

import pytest
import torch

from course.harness.diagnose import same_outcome
from course.harness.fingerprints import fingerprint, from_record, to_record
from course.harness.program import Observation
from course.harness.serialization import Node, pack, unpack


def drawn(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)), dtype=torch.float64).to(dtype)


def kept(value: object) -> Observation:
    """The sketch of a result, as it comes back from a file."""
    return from_record(unpack(pack(to_record(fingerprint(Observation({"result": value}))))))


X = drawn(4, 5, 6)
OTHERS = {
    "another number": lambda x: x.index_put((torch.tensor(1), torch.tensor(2), torch.tensor(3)), torch.tensor(9.0)),
    "another sign": lambda x: -x,
    "another order": lambda x: x.flip(-1),
    "transposed": lambda x: x.mT.reshape(x.shape),
    "a little more": lambda x: x + 0.01,
    "a little larger": lambda x: x * 1.003,
    "one NaN": lambda x: x.index_put((torch.tensor(0), torch.tensor(0), torch.tensor(0)), torch.tensor(torch.nan)),
    "another shape": lambda x: x.flatten(),
    "another dtype": lambda x: x.double(),
    "no tensor": lambda x: x.tolist(),
    "two of them": lambda x: (x, x),
}


@pytest.mark.parametrize("change", OTHERS.values(), ids=OTHERS)
def test_what_differs_differs_as_a_sketch(change):
    assert not same_outcome(kept(X), kept(change(X)))


@pytest.mark.parametrize(
    "value",
    [
        X,
        drawn(300, dtype=torch.float64),
        torch.arange(40) % 7,
        X > 0,
        torch.tensor([0.0, torch.inf, -torch.inf, torch.nan]),
        torch.zeros(0, 3),
        {"a": X, "b": [1, 2.5, None, "text", True]},
        [(drawn(2, 3), drawn(3, 2))] * 40,
        [0.5 * i for i in range(40)],
        Node("other", {"type": "ndarray"}),
    ],
)
def test_what_is_alike_to_rounding_is_alike_as_a_sketch(value):
    near = value * (1 + 1e-7 * torch.sign(drawn(*value.shape))) if value is X else value
    assert same_outcome(kept(value), kept(near))


def test_where_something_is_not_finite_counts():
    one, other = torch.zeros(9), torch.zeros(9)
    one[2] = other[5] = torch.inf
    assert not same_outcome(kept(one), kept(other))
    assert not same_outcome(kept(one), kept(-one))


def test_numbers_whose_sums_are_too_large_are_alike_to_themselves_and_to_nothing_else():
    huge = torch.full((3, 4), -1.7e308, dtype=torch.float64)
    assert same_outcome(kept(huge), kept(huge.clone()))
    for other in (-huge, torch.zeros_like(huge), huge / 1e300):
        assert not same_outcome(kept(huge), kept(other)) and not same_outcome(kept(other), kept(huge))


def test_an_error_is_its_type_and_message_and_no_line_is_kept():
    raised = {"type": "ValueError", "bases": ["ValueError"], "message": "no", "line": "raise ValueError('no')"}
    record = to_record(fingerprint(Observation(raised=raised)))
    assert "raise" not in json.dumps(record)
    assert same_outcome(fingerprint(Observation(raised=raised)), from_record(record))
    assert not same_outcome(fingerprint(Observation(raised={**raised, "type": "TypeError"})), from_record(record))


def test_a_sketch_holds_no_number_of_the_tensor_and_its_size_does_not_grow():
    small, large = (len(pack(to_record(fingerprint(Observation({"result": drawn(n)}))))) for n in (50, 50_000))
    assert abs(large - small) < 20
    text = json.dumps(to_record(fingerprint(Observation({"result": X}))), default=vars)
    assert not any(f"{number:.4f}" in text for number in X.flatten().tolist())
