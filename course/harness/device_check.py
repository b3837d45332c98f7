"""Whether an answer keeps to the device of its inputs, asked where there is one device only.

The inputs of a case "elsewhere" lie on PyTorch's device "meta", whose tensors have a shape and a dtype and hold no
numbers. A tensor that an answer makes on the default device then cannot be mixed with them, or comes out of it.

An answer that reads numbers (`.item()`, `.tolist()`, an `if` on a tensor, numpy) cannot be asked so: it has the benefit
of the doubt, and is asked on a GPU only.

Does not cover: whether the result is right otherwise (`comparing.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from .compare import Finding, leaves
from .errors import mixes_devices
from .program import Observation

META = "meta"


def check_device(seen: Observation, parts: Sequence[str] = ()) -> Finding | None:
    """What lies elsewhere than the inputs, which are on "meta"; None too where that cannot be told. `parts`: what the
    items of a result of several are called."""
    if seen.raised is not None:
        if not mixes_devices(seen.raised["message"]):
            return None
        line = f", at the line `{seen.raised['line']}`" if seen.raised["line"] else ""
        return Finding("device", f"a tensor on PyTorch's default device meets one on that of the inputs{line}")
    for where, found in (leaf for value in seen.values.values() for leaf in leaves(value, parts=parts)):
        if isinstance(found, torch.Tensor):  # what is on "meta" comes out as a record of its kind
            return Finding("device", f"{where} is on PyTorch's default device, the inputs are on another")
    return None
