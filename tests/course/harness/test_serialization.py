"""What crosses the wire arrives as it was, and hostile bytes raise PackingError and nothing else."""

from __future__ import annotations

import contextlib
import json
import math
import random
import tracemalloc

import pytest
import torch
from safetensors.torch import save

from course.harness.serialization import MAX_BYTES, MAX_PARTS, Node, PackingError, pack, unpack


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        -7,
        2**80,
        -(2**255),
        1.5,
        math.inf,
        "é",
        [],
        [1, [2, (3,)]],
        (),
        {"a": 1, "b": (None,)},
    ],
)
def test_plain_values_come_back(value):
    back = unpack(pack(value))
    assert back == value
    assert type(back) is type(value)


def test_a_node_survives_a_round_trip():
    back = unpack(pack(Node("ref", {"name": "x", "path": [0]})))
    assert (back.kind, back.name, back.path) == ("ref", "x", [0])


def test_nan_survives_a_round_trip():
    assert math.isnan(unpack(pack(math.nan)))


@pytest.mark.parametrize(
    "tensor",
    [
        torch.tensor(3.5),
        torch.zeros(0, 3),
        torch.arange(6).reshape(2, 3),
        torch.tensor([True, False]),
        torch.randn(2, 3, 4).permute(2, 0, 1),
        torch.randn(4, 6)[:, ::2],
        torch.randn(3, 1).expand(3, 4),
        torch.tensor([math.nan, -math.inf]),
        torch.randn(3, dtype=torch.float64),
    ],
)
def test_tensors_come_back_with_dtype_values_and_order_of_memory(tensor):
    back = unpack(pack(tensor))
    assert back.dtype == tensor.dtype
    assert torch.equal(back.nan_to_num(7.0), tensor.nan_to_num(7.0))
    assert back.is_contiguous() == tensor.is_contiguous()


def test_a_tensor_subclass_arrives_as_a_plain_tensor():
    class Lying(torch.Tensor):
        pass

    assert type(unpack(pack(torch.ones(2).as_subclass(Lying)))) is torch.Tensor


def test_a_value_that_is_not_data_is_refused():
    with pytest.raises(PackingError, match="function"):
        pack([lambda: 0])


@pytest.mark.parametrize(("value", "why"), [({1: "a"}, "keys of text"), (2**256, "256 bits"), (-(2**300), "256 bits")])
def test_what_is_not_covered_is_refused_with_the_reason(value, why):
    with pytest.raises(PackingError, match=why):
        pack(value)


def stranger(text, tensors=None):
    """The bytes of a packed value with this JSON in it, whatever that is."""
    text = text if isinstance(text, bytes) else json.dumps(text).encode()
    return len(text).to_bytes(8, "little") + text + save(tensors or {})


def names(*keys):
    return [{"$": "tensor", "key": key} for key in keys]


MODULUS = 2**61 - 1  # of Python's hash of an int


@pytest.mark.parametrize(
    "made",
    [
        lambda: stranger({"$": "dict", "items": [[n * MODULUS, 0] for n in range(40_000)]}),
        lambda: stranger(names(*["0"] * 1000), {"0": torch.zeros(1000)}),
        lambda: stranger({"$": "big", "text": "f" * 10_000}),
        lambda: stranger(b"[" + b"9" * 4000 + b"]"),
        lambda: stranger(b"[" + b"[]," * 300_000 + b"[]]"),
        lambda: stranger(b"[" * 100_000),
        lambda: stranger([], {str(n): torch.zeros(0) for n in range(70_000)}),
        lambda: stranger(names("0"), {"0": torch.zeros((1,) * 100)}),
        lambda: stranger(
            [{"$": "tensor", "key": "0", "order": list(range(63, -1, -1)) * 2}], {"0": torch.zeros((1,) * 64)}
        ),
        lambda: b"\xff" * 8 + b"{}",
    ],
    ids=["keys", "a tensor twice", "big", "digits", "lists", "depth", "tensors", "dimensions", "order", "size"],
)
def test_bytes_that_would_grow_raise_packing_error(made):
    blob = made()
    with pytest.raises(PackingError):
        unpack(blob)


def test_what_is_unpacked_takes_no_more_than_a_few_times_its_bytes():
    wide = torch.zeros(2**17)
    blobs = [
        stranger([{**names("0")[0], "dense": False}], {"0": wide}),
        stranger(b"[" + b"[]," * 60_000 + b"[]]"),
        stranger({"$": "tuple", "items": ["\U0001f600" + "x" * 2**19]}),
    ]
    tracemalloc.start()
    try:
        for blob in blobs:
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            unpack(blob)
            assert tracemalloc.get_traced_memory()[1] - before < 10 * len(blob) + 100 * MAX_PARTS
    finally:
        tracemalloc.stop()


def test_more_than_the_limit_is_refused_on_both_sides():
    with pytest.raises(PackingError, match="allowed"):
        pack(torch.zeros(MAX_BYTES // 4 + 1))
    with pytest.raises(PackingError, match="allowed"):
        unpack(bytes(MAX_BYTES + 1))


def test_damaged_bytes_raise_packing_error_and_nothing_else():
    blob = pack({"x": torch.randn(3, 4), "y": [1, (2.0, "z")], "n": Node("ref", {"name": "x"})})
    draw = random.Random(0)
    for _ in range(500):
        damaged = bytearray(blob[: draw.randrange(len(blob) + 1)])
        for _ in range(draw.randrange(4)):
            if damaged:
                damaged[draw.randrange(len(damaged))] = draw.randrange(256)
        with contextlib.suppress(PackingError):
            unpack(bytes(damaged))


@pytest.mark.parametrize(
    "record",
    [
        {"$": "tensor", "key": "9"},
        {"$": "module"},
        {"no": 1},
        {"$": "node", "kind": 3, "fields": {}},
        {"$": "tuple", "items": 5},
        {"$": "dict", "items": [[1]]},
        {"$": "dict", "items": [[[], 1]]},
    ],
)
def test_malformed_records_raise_packing_error(record):
    text = json.dumps(record).encode()
    with pytest.raises(PackingError):
        unpack(len(text).to_bytes(8, "little") + text + pack(None)[8 + 4 :])
