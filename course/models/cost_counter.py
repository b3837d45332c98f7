"""The cost of a call: multiplications, bytes read and written, and the most memory at once.

    result, cost = measure_cost(model, ids)
    cost.products, cost.read, cost.written, cost.peak

It works in PyTorch's dispatcher, which every operator passes. A view (`transpose`, a slice, `expand`) is free. Every
other operator reads its inputs once and writes its result.

Does not cover: multiplications outside of matrix products; memory that an operator uses only while it runs.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten

# Operator -> index of the left factor among its arguments
PRODUCTS = {"mm": 0, "bmm": 0, "mv": 0, "dot": 0, "addmm": 1, "baddbmm": 1, "addmv": 1}
MAKE = {"empty", "empty_like", "new_empty", "zeros", "new_zeros", "zeros_like", "ones", "ones_like", "full", "arange"}
PICK = {"embedding", "index", "index_select", "gather"}  # read only the entries that they return


@dataclass
class Cost:
    """The cost of one call.

    products  multiplications in matrix products
    read      bytes of all operators' inputs
    written   bytes of all operators' results
    peak      bytes of the tensors made in the call, when they were most
    """

    products: int = 0
    read: int = 0
    written: int = 0
    peak: int = 0


def measure_cost(function: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, Cost]:
    """Call `function` without gradients, and return its result and its `Cost`."""
    with torch.no_grad(), _Counter() as counter:
        result = function(*args, **kwargs)
    return result, counter.cost


def multiplications(func: Any, args: tuple[Any, ...], result: Any) -> int:
    """m · k · n for an operator that computes (m, k) @ (k, n), else 0; einsum and `@` use these operators, too."""
    name = func.overloadpacket.__name__
    return result.numel() * args[PRODUCTS[name]].shape[-1] if name in PRODUCTS else 0


class _Counter(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch has no types for it
        self.cost = Cost()
        self._memory = 0
        self._known: set[int] = set()  # addresses of the storages made in the call

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        given = [value for value in tree_flatten((args, kwargs))[0] if isinstance(value, Tensor)]
        made = [value for value in tree_flatten(result)[0] if isinstance(value, Tensor)]
        name = func.overloadpacket.__name__
        self.cost.products += multiplications(func, args, result)
        owned = {_address(tensor) for tensor in given}
        if func._schema.is_mutable:  # writes into its first argument
            overwritten = name in ("copy_", "fill_", "zero_")
            self.cost.read += sum(map(_bytes, given[1:] if overwritten else given))
            self.cost.written += sum(map(_bytes, given[:1]))
        elif any(_address(tensor) not in owned for tensor in made):
            self.cost.read += 0 if name in MAKE else sum(map(_bytes, [*made, *given[1:]] if name in PICK else given))
            self.cost.written += 0 if "empty" in name else sum(map(_bytes, made))
        for tensor in made:
            if _address(tensor) not in owned:
                self._note(tensor)
        return result

    def _note(self, tensor: Tensor) -> None:
        storage = tensor.untyped_storage()
        address, size = storage.data_ptr(), storage.nbytes()
        if address in self._known or not size:
            return
        self._known.add(address)
        self._memory += size
        self.cost.peak = max(self.cost.peak, self._memory)
        weakref.finalize(storage, self._forget, address, size).atexit = False

    def _forget(self, address: int, size: int) -> None:
        self._known.discard(address)
        self._memory -= size


def _address(tensor: Tensor) -> int:
    return int(tensor.untyped_storage().data_ptr())


def _bytes(tensor: Tensor) -> int:
    """Bytes of the different elements of a tensor: an expanded dimension counts once."""
    sizes = (size for size, stride in zip(tensor.shape, tensor.stride(), strict=True) if stride)
    return math.prod(sizes) * tensor.element_size() if tensor.numel() else 0
