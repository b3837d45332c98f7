"""Whether an answer stays on its inputs' device, checked without a second device.

The inputs of such a case (`Reference.device_only`) are on PyTorch's device "meta", whose tensors have a shape and a
dtype but no data. A tensor that an answer makes on the default device then fails to combine with them, or is returned.

An answer that returns a tensor moved to the CPU by name is wrong. One that reads values (`.item()`, `.tolist()`, `if`
on a tensor, numpy) or takes a detour by the CPU cannot be checked this way: it passes here, and only a GPU shows it.

Does not cover: whether the result is right otherwise (`course.harness.compare`).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from . import messages
from .compare import leaves
from .errors import mixes_devices, moves_to_cpu
from .messages import Finding
from .program import Observation

META = "meta"


def check_device(seen: Observation, parts: Sequence[str] = ()) -> Finding | None:
    """Return a finding if a result (its items are `parts`) is not on "meta"."""
    if seen.raised is not None:
        if moves_to_cpu(seen.raised):
            return messages.moved_to_cpu(seen.raised)
        if not mixes_devices(seen.raised["message"]):
            return None
        return messages.mixed_devices(seen.raised)
    for where, found in (leaf for value in seen.values.values() for leaf in leaves(value, parts=parts)):
        if isinstance(found, torch.Tensor):  # a tensor on "meta" is observed as a node
            return messages.on_default_device(where)
    return None
