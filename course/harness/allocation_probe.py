"""What a call makes on its way: the largest tensor of fractions, and the multiplications of its matrix products.

Seen at the dispatcher, which every operator passes. A tensor counts by the memory that it holds, so that a view, as
`expand` or a slice gives, counts no more than what it looks at.

Does not cover: what numpy or lists hold; masks and indices, which are no fractions; operators that multiply without a
matrix product; code that takes the watch apart.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten


class AllocationProbe(TorchDispatchMode):
    """Notes, of what is called under it, `shape`, that of the largest tensor, and `products`; stops nothing."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch has no types for it
        self.shape: tuple[int, ...] = ()
        self.most = 0
        self.products = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        made = func(*args, **(kwargs or {}))
        self._count(func, args, made)
        # Nearly all give one tensor; to look into a tree costs several times what they cost
        for tensor in (made,) if isinstance(made, torch.Tensor) else tree_flatten(made)[0]:
            if isinstance(tensor, torch.Tensor) and tensor.is_floating_point() and not tensor.is_meta:
                self._note(tensor)
        return made

    def _note(self, tensor: torch.Tensor) -> None:
        held = tensor.untyped_storage().nbytes() // tensor.element_size()
        if held > self.most:
            self.most, self.shape = held, tuple(tensor.shape)

    def _count(self, func: Any, args: tuple[Any, ...], made: Any) -> None:
        """A product (m, k) @ (k, n) has m · k · n multiplications; einsum and `@` come to these operators."""
        name = func.overloadpacket.__name__
        if name in ("mm", "bmm", "mv", "dot", "addmm", "baddbmm", "addmv"):
            left = args[1 if name in ("addmm", "baddbmm", "addmv") else 0]
            self.products += made.numel() * left.shape[-1]
