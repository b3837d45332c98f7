"""The small language model with a cache: keys and values are written into memory that the caller made once.

    model = CachedLM(small_lm.load())
    cache = model.new_cache(batch_size=1, length=20)    # (L, 2, B, H, length, K), zeros
    logits = model(ids, cache, 0)                       # the prompt, (B, T) -> (B, T, N)
    logits = model(chosen, cache, ids.shape[1])         # one token more, (B, 1) -> (B, 1, N)

Does not cover: choosing tokens, which is the exercise `generate_with_cache` of lesson 09.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from .modern_lm import BUILT_IN, Attention, Block, ModernLM

Write = Callable[[Tensor, Tensor, int], Tensor]


def write_to_cache(kept: Tensor, new: Tensor, start: int) -> Tensor:
    """Write rows (..., T, K) into `kept` (..., length, K) from `start` on; a view of all so far (..., S, K)."""
    stop = start + new.shape[-2]
    kept.narrow(-2, start, stop - start).copy_(new)
    return kept.narrow(-2, 0, stop)


class CachedLM(nn.Module):
    """Ids (B, T), a cache and the position of the first id -> logits (B, T, N).

    `write` puts keys or values into the cache and returns all so far; by default `write_to_cache`.
    """

    def __init__(self, lm: ModernLM, write: Write = write_to_cache) -> None:
        super().__init__()
        self.lm, self.write = lm, write
        self.train(lm.training)

    def new_cache(self, batch_size: int, length: int) -> Tensor:
        """Zeros (L, 2, B, H, length, K): keys and values of every layer for `length` positions."""
        table, heads = self.lm.tokens.weight, self.lm.n_heads
        return table.new_zeros(
            len(self.lm.blocks), 2, batch_size, heads, length, table.shape[1] // heads, requires_grad=False
        )

    def forward(self, ids: Tensor, cache: Tensor, start: int) -> Tensor:
        """Ids at positions start, start + 1, …; their keys and values are written into `cache` there."""
        check_room(ids, cache, start)
        x = BUILT_IN.embed(ids, self.lm.tokens.weight)
        for layer, block in enumerate(self.lm.blocks):
            assert isinstance(block, Block)
            x = x + self._attend(block.attention, block.norm_1(x), cache[layer], start)
            x = x + block.mlp(block.norm_2(x))
        logits: Tensor = self.lm.norm(x) @ self.lm.tokens.weight.T
        return logits

    def _attend(self, attention: Attention, x: Tensor, kept: Tensor, start: int) -> Tensor:
        query, key, value = attention.heads(x)
        if attention.rotates:
            positions = torch.arange(start, start + x.shape[1], device=x.device)
            query, key = BUILT_IN.rope(query, positions), BUILT_IN.rope(key, positions)
        keys, values = self.write(kept[0], key, start), self.write(kept[1], value, start)
        scores = query @ keys.mT * query.shape[-1] ** -0.5
        columns = torch.arange(keys.shape[-2], device=x.device)
        mask = columns > columns[start:, None]  # (T, S); the way over (S, S) would take most of a step's memory
        output: Tensor = attention.W_o(BUILT_IN.merge(BUILT_IN.weights(scores, mask) @ values))
        return output


def check_room(ids: Tensor, cache: Tensor, start: int) -> None:
    """Raise ValueError unless ids (B, T) from position `start` on fit into a cache (L, 2, B, G, length, K)."""
    if ids.ndim != 2 or ids.shape[0] != cache.shape[2]:
        raise ValueError(f"ids has the shape {tuple(ids.shape)}, and the cache is for {cache.shape[2]} sequences")
    stop = start + ids.shape[1]
    if start < 0 or stop > cache.shape[4]:
        length = cache.shape[4]
        raise ValueError(f"positions {start} to {stop - 1} do not fit into a cache of {length}, 0 to {length - 1}")
