"""A probe for the largest floating-point tensor and the multiplications of a call.

It works in PyTorch's dispatcher, which every operator passes. A tensor counts by its storage, so a view (from `expand`
or a slice) counts no more than the tensor that it views.

Does not cover: memory of numpy or lists; masks and indices, which are not floating point; operators that multiply
without a matrix product; code that disables the probe.
"""

from __future__ import annotations

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten

from ..models.cost_counter import multiplications


class AllocationProbe(TorchDispatchMode):
    """Record a block's largest tensor (`shape`) and multiplications (`products`)."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch has no types for it
        self.shape: tuple[int, ...] = ()
        self.most = 0
        self.products = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        result = func(*args, **(kwargs or {}))
        self.products += multiplications(func, args, result)
        # Nearly every operator returns one tensor; flattening a tree costs several times the operator itself
        for tensor in (result,) if isinstance(result, torch.Tensor) else tree_flatten(result)[0]:
            if isinstance(tensor, torch.Tensor) and tensor.is_floating_point() and not tensor.is_meta:
                self._note(tensor)
        return result

    def _note(self, tensor: torch.Tensor) -> None:
        elements = tensor.untyped_storage().nbytes() // tensor.element_size()
        if elements > self.most:
            self.most, self.shape = elements, tuple(tensor.shape)
