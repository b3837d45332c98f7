"""Whether an answer keeps to the device of its inputs is asked with tensors that hold no numbers."""

from __future__ import annotations

import pytest
import torch

from course.harness.device_check import META, check_device
from course.harness.helpers import HELPERS
from course.harness.program import Program
from course.harness.runner import observe
from course.harness.serialization import Node

X = torch.ones(3, 4)


def asked(function, *inputs):
    named = {f"x{i}": x for i, x in enumerate(inputs or (X,))}
    steps = [("out", Node("student", {"name": "f"}), [Node("ref", {"name": n, "path": []}) for n in named], {})]
    return observe(Program(named, steps, ["out"], device=META), {"f": function})


@pytest.mark.parametrize(
    "keeping",
    [
        lambda x: x.softmax(-1),
        lambda x: (x, x.sum()),
        lambda x: x * torch.tensor(2.0),
        lambda x: x[..., torch.arange(2)],
        lambda x: x + torch.zeros_like(x),
        lambda x: torch.where(x > 0, x, torch.tensor(0.0)),
        lambda x: x @ torch.eye(4, dtype=x.dtype, device=x.device),
        lambda x: [row.softmax(0) for row in x],
    ],
)
def test_what_keeps_to_the_device_is_right(keeping):
    assert check_device(asked(keeping)) is None


@pytest.mark.parametrize(
    "reading",
    [
        lambda x: torch.tensor(x.tolist()),
        lambda x: x if x.any() else -x,
        lambda x: torch.from_numpy(x.numpy()),
        lambda x: x[x > 0],
        lambda x: torch.tensor(x.sum().item()),
        lambda x: 1 / 0,
    ],
)
def test_what_reads_numbers_or_fails_otherwise_has_the_benefit_of_the_doubt(reading):
    assert asked(reading).raised is not None
    assert check_device(asked(reading)) is None


@pytest.mark.parametrize(
    "straying",
    [
        lambda x: torch.zeros(3, 4),
        lambda x: (x, torch.zeros(2)),
        lambda x: {"weights": torch.zeros(2)},
        lambda x: x + torch.arange(4),
        lambda x: torch.cat([torch.zeros(1, 4), x]),
        lambda x: x.masked_fill(torch.ones(3, 4, dtype=torch.bool), 0.0),
        lambda x: torch.take_along_dim(x, torch.zeros(3, 1, dtype=torch.int64), -1),
        lambda x: torch.einsum("ij,jk->ik", x, torch.ones(4, 2)),
    ],
)
def test_a_tensor_on_another_device_is_reported(straying):
    finding = check_device(asked(straying))
    assert finding.stage == "device"
    assert "default device" in finding.text


def on_the_cpu(x):
    return x.softmax(-1).cpu()


def doubled_on_the_cpu(x):
    return x.to("cpu") * 2


@pytest.mark.parametrize("moved", [on_the_cpu, doubled_on_the_cpu])
def test_a_result_moved_to_the_cpu_by_name_is_reported(moved):
    finding = check_device(asked(moved))
    assert finding.stage == "device"
    assert "moved to the CPU" in finding.text


def by_the_cpu(x):
    return x.cpu().softmax(-1).to(x.device)


def by_the_cpu_in_steps(x):
    weights = x.cpu().softmax(-1)
    return weights.to(x.device)


def by_the_cpu_into_a_new_tensor(x):
    return torch.tensor(x.cpu().tolist(), device=x.device)


@pytest.mark.parametrize("moved", [by_the_cpu, by_the_cpu_in_steps, by_the_cpu_into_a_new_tensor])
def test_a_detour_by_the_cpu_passes_like_a_right_answer(moved):
    assert check_device(asked(moved)) is None


def test_models_lie_where_their_inputs_do():
    """One without weights given, and one whose weights came with the program, stayed on the CPU."""
    ids = torch.zeros(2, 3, dtype=torch.int64)
    slope = Node("specimen", {"name": "Slope", "kwargs": {"block_size": 3}, "state": None})
    state = {"table.weight": torch.zeros(5, 5)}
    bigram = Node("specimen", {"name": "Bigram", "kwargs": {"n_tokens": 5, "block_size": 3}, "state": state})
    for model in (slope, bigram):
        assert check_device(asked(lambda model, ids: model(ids), model, ids)) is None


def test_while_another_device_is_the_default_indices_may_lie_there_and_what_is_filled_may_not():
    """PyTorch takes an index on the CPU for a tensor on any device."""
    elsewhere = HELPERS["elsewhere"]
    assert torch.equal(elsewhere(lambda x: x[..., torch.arange(2)], X), X[..., :2])
    assert elsewhere(lambda x: torch.zeros(3, 4).copy_(x), X).is_meta
    with pytest.raises(RuntimeError):
        elsewhere(lambda x: x + torch.zeros(3, 4), X)
