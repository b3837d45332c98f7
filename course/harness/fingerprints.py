"""Sketches of outcomes: what tells one from another, and not what it is.

A known mistake's outcome is kept to be recognised, never to be shown. Of a tensor that takes its shape and dtype, its
size, and two sums of all its numbers with weights that follow no pattern: tensors whose numbers agree to the tolerance
have the same sums, and such as differ anywhere by more have other ones. So some bytes stand for any number of numbers.
Two outcomes compare as sketches as they do themselves (`diagnosing.same_outcome`).
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

FEW = 16  # items of a list that are kept one by one


def fingerprint(seen: Observation) -> Observation:
    """The outcome with a sketch in the place of every tensor, and nothing of what no diagnosis looks at."""
    raised = seen.raised and {key: seen.raised[key] for key in ("type", "message", "line")}
    changed = dict.fromkeys(seen.changed)
    return Observation(_sketch(seen.values), gradients=_sketch(seen.gradients), changed=changed, raised=raised)


def to_record(sketch: Observation) -> list[Any]:
    """A sketch as short plain data; `from_record` undoes it. The line that raised is the author's own, and left out."""
    raised = sketch.raised and [sketch.raised["type"], sketch.raised["message"]]
    return [sketch.values, sketch.gradients, list(sketch.changed), raised]


def from_record(record: list[Any]) -> Observation:
    values, gradients, changed, raised = record
    told = raised and {"type": raised[0], "message": raised[1], "line": ""}
    return Observation(values, gradients=gradients, changed=dict.fromkeys(changed), raised=told)


def same_fingerprint(a: Node, b: Node) -> bool:
    """Whether two sketches of tensors cannot be told apart: by as much as the tolerance of their dtype moves a sum."""
    if a.of != b.of:
        return False
    dtype = getattr(torch, a.of[0])
    room = Tolerance.of(dtype if dtype.is_floating_point else torch.float64)
    allowed = (room.rtol + room.atol) * max(a.sums[0], b.sums[0])
    # Sums of what is almost too large for its dtype are infinite, or no number
    pairs = zip(a.sums, b.sums, strict=True)
    return all(x == y or (x != x and y != y) or abs(x - y) <= allowed < inf for x, y in pairs)


def _sketch(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return _of_tensor(value)
    if isinstance(value, (list, tuple)):
        return _of_many(value) if len(value) > FEW else type(value)(map(_sketch, value))
    if isinstance(value, dict):
        return {key: _sketch(item) for key, item in value.items()}
    return value


def _of_many(value: list[Any] | tuple[Any, ...]) -> Any:
    """One sketch of all the tensors, or of all the floats, that a long list holds; otherwise that of each item."""
    parts = [part for _, part in leaves(value)]
    if all(type(part) is float for part in parts):
        return _of_tensor(torch.tensor(parts), "floats")
    if not all(isinstance(part, torch.Tensor) and part.dtype == parts[0].dtype for part in parts):
        return type(value)(map(_sketch, value))
    shapes = zlib.crc32(repr([(where, part.shape) for where, part in leaves(value)]).encode())
    return _of_tensor(torch.cat([part.flatten() for part in parts]), shapes)


def _of_tensor(tensor: torch.Tensor, *also: object) -> Node:
    """What `alike` compares: `of`, all that must be equal, and `sums`, of which the first is the tensor's norm."""
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor)
    numbers = tensor.detach().double().flatten()
    odd = torch.stack([numbers.isnan(), numbers == torch.inf, numbers == -torch.inf]).double()
    numbers = numbers.nan_to_num(0.0, 0.0, 0.0)
    weights = _weights(len(numbers))
    sums = [float(numbers.norm()), *(weights @ numbers).tolist()]
    where = [f"{float(one):.6g}" for one in odd @ weights[0]] if odd.any() else []
    dtype, digits = str(tensor.dtype).removeprefix("torch."), 6 if tensor.dtype == torch.float32 else 10
    return Node(
        "sketch", {"of": [dtype, *tensor.shape, *where, *also], "sums": [float(f"{s:.{digits}g}") for s in sums]}
    )


@lru_cache(maxsize=64)
def _weights(n: int) -> torch.Tensor:
    """(2, n), float64, each between -1 and 1, the same everywhere."""
    places = torch.arange(1, n + 1, dtype=torch.float64)
    return torch.stack([torch.sin(places * places * step) for step in (0.7390851332, 1.3247179572)])
