"""Fingerprints of outcomes, which distinguish outcomes without revealing them.

The check data contain known mistakes' outcomes to recognize them, not to show them. A tensor's fingerprint has its
shape, dtype and norm, and two sums of its entries with pseudo-random weights: tensors that agree to the tolerance have
the same sums, and tensors that differ by more have different ones. A few bytes replace any number of entries.
Fingerprints compare like the outcomes themselves (`course.harness.diagnose.same_outcome`).
"""

from __future__ import annotations

import zlib
from functools import lru_cache
from math import inf
from typing import Any

import torch

from .compare import leaves
from .program import Observation
from .serialization import Node
from .tolerance import Tolerance

FEW = 16  # longest list whose items get a fingerprint each


def fingerprint(seen: Observation) -> Observation:
    """Replace an outcome's tensors by fingerprints and drop what no diagnosis uses."""
    raised = seen.raised and {key: seen.raised[key] for key in ("type", "message", "line")}
    changed = dict.fromkeys(seen.changed)
    return Observation(
        _fingerprint_of(seen.values), gradients=_fingerprint_of(seen.gradients), changed=changed, raised=raised
    )


def to_record(sketch: Observation) -> list[Any]:
    """Convert a fingerprint to plain data, without the line that raised an exception."""
    raised = sketch.raised and [sketch.raised["type"], sketch.raised["message"]]
    return [sketch.values, sketch.gradients, list(sketch.changed), raised]


def from_record(record: list[Any]) -> Observation:
    """Convert the plain data of `to_record` back to a fingerprint."""
    values, gradients, changed, raised = record
    exception = raised and {"type": raised[0], "message": raised[1], "line": ""}
    return Observation(values, gradients=gradients, changed=dict.fromkeys(changed), raised=exception)


def same_fingerprint(a: Node, b: Node) -> bool:
    """Whether two tensors' fingerprints are equal within the tolerance of their dtype."""
    if a.of != b.of:
        return False
    dtype = getattr(torch, a.of[0])
    room = Tolerance.of(dtype if dtype.is_floating_point else torch.float64)
    allowed = (room.rtol + room.atol) * max(a.sums[0], b.sums[0])
    # Sums of entries near the dtype's maximum are infinite or NaN
    pairs = zip(a.sums, b.sums, strict=True)
    return all(x == y or (x != x and y != y) or abs(x - y) <= allowed < inf for x, y in pairs)


def _fingerprint_of(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return _fingerprint_of_tensor(value)
    if isinstance(value, (list, tuple)):
        return _fingerprint_of_list(value) if len(value) > FEW else type(value)(map(_fingerprint_of, value))
    if isinstance(value, dict):
        return {key: _fingerprint_of(item) for key, item in value.items()}
    return value


def _fingerprint_of_list(value: list[Any] | tuple[Any, ...]) -> Any:
    """One fingerprint for a long list of tensors or floats; else one for each item."""
    parts = [part for _, part in leaves(value)]
    if all(type(part) is float for part in parts):
        return _fingerprint_of_tensor(torch.tensor(parts), "floats")
    if not all(isinstance(part, torch.Tensor) and part.dtype == parts[0].dtype for part in parts):
        return type(value)(map(_fingerprint_of, value))
    shapes = zlib.crc32(repr([(where, part.shape) for where, part in leaves(value)]).encode())
    return _fingerprint_of_tensor(torch.cat([part.flatten() for part in parts]), shapes)


def _fingerprint_of_tensor(tensor: torch.Tensor, *also: object) -> Node:
    """A tensor's fingerprint: `of`, compared exactly, and `sums`, the norm first."""
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor)
    numbers = tensor.detach().double().flatten()
    nonfinite = torch.stack([numbers.isnan(), numbers == torch.inf, numbers == -torch.inf]).double()
    numbers = numbers.nan_to_num(0.0, 0.0, 0.0)
    weights = _weights(len(numbers))
    sums = [float(numbers.norm()), *(weights @ numbers).tolist()]
    where = [f"{float(checksum):.6g}" for checksum in nonfinite @ weights[0]] if nonfinite.any() else []
    dtype, digits = str(tensor.dtype).removeprefix("torch."), 6 if tensor.dtype == torch.float32 else 10
    return Node(
        "sketch", {"of": [dtype, *tensor.shape, *where, *also], "sums": [float(f"{s:.{digits}g}") for s in sums]}
    )


@lru_cache(maxsize=64)
def _weights(n: int) -> torch.Tensor:
    """Fixed pseudo-random weights in [-1, 1], (2, n), float64."""
    positions = torch.arange(1, n + 1, dtype=torch.float64)
    return torch.stack([torch.sin(positions * positions * step) for step in (0.7390851332, 1.3247179572)])
