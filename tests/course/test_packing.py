"""What crosses the wire arrives as it was, and hostile bytes raise PackingError and nothing else."""

from __future__ import annotations

import contextlib
import json
import math
import random

import pytest
import torch

from course.protocol.packing import MAX_BYTES, Node, PackingError, pack, unpack


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        -7,
        2**80,
        1.5,
        math.inf,
        "é",
        [],
        [1, [2, (3,)]],
        (),
        {"a": 1, 2: (None,)},
    ],
)
def test_plain_values_come_back(value):
    back = unpack(pack(value))
    assert back == value
    assert type(back) is type(value)


def test_a_node_comes_back():
    back = unpack(pack(Node("ref", {"name": "x", "path": [0]})))
    assert (back.kind, back.name, back.path) == ("ref", "x", [0])


def test_nan_comes_back_as_nan():
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


def test_what_is_no_data_is_refused():
    with pytest.raises(PackingError, match="function"):
        pack([lambda: 0])


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
