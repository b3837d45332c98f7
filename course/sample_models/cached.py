"""A language model with a cache, of lesson 09: ids (B, T), a cache and a position -> logits (B, T, N)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ..models.cached_lm import check_room


class Cached(nn.Module):
    """Predicts by the sum of all that its cache holds, in whole numbers: every token and every position counts.

    Each token n at position p has the key n + 1 and the value p % (N - 1) + 1. A query sums key * value over all
    positions up to its own, as the cache has them; logits are row `sum % (N + 1)` of `table` (N + 1, N). If N + 1 is a
    prime, no token and no position is without effect.

    calls   for every call: start, T, the cache's length, whether it is the memory of the first call, and whether
            gradients could flow
    """

    def __init__(self, n_tokens: int, n_layers: int = 2, n_groups: int = 3, width: int = 4) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.zeros(n_tokens + 1, n_tokens))
        self.sizes = n_layers, n_groups, width
        self.calls: list[list[int | bool]] = []
        self._first: Tensor | None = None

    def new_cache(self, batch_size: int, length: int) -> Tensor:
        """Zeros (L, 2, B, G, length, K): keys and values of every layer for `length` positions."""
        L, G, K = self.sizes
        return self.table.detach().new_zeros(L, 2, batch_size, G, length, K)

    def forward(self, ids: Tensor, cache: Tensor, start: int) -> Tensor:
        """int64 (B, T), (L, 2, B, G, length, K), int -> (B, T, N); writes into `cache`."""
        check_room(ids, cache, start)
        T, N = ids.shape[1], self.table.shape[1]
        self._first = cache if self._first is None else self._first
        same = cache.data_ptr() == self._first.data_ptr()
        self.calls.append([int(start), T, cache.shape[4], same, torch.is_grad_enabled()])
        positions = torch.arange(start, start + T, device=ids.device)
        # In place, with and without gradients: the table has them, the cache has none
        written = cache.detach()[..., start : start + T, :]
        written[:, 0] = (ids + 1)[:, None, :, None].to(cache.dtype)
        written[:, 1] = (positions % (N - 1) + 1)[:, None].to(cache.dtype)
        keys, values = cache.detach()[-1, :, :, 0, : start + T, 0]  # each (B, S)
        sums = (keys * values).cumsum(-1)[:, start:].long() % (N + 1)
        return self.table[sums]
