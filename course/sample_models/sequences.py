"""An encoder, a decoder and the step function of a search: lesson 12."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

Memory = Tensor | tuple[Tensor, Tensor] | dict[str, Tensor]


def _open_mean(values: Tensor, mask: Tensor | None) -> Tensor:
    """Mean over unmasked positions, 0 if none: (B, S, D), bool (B, S) -> (B, 1, D)."""
    open_ = torch.ones_like(values[..., :1]) if mask is None else (~mask)[..., None].to(values)
    return (values * open_).sum(1, keepdim=True) / open_.sum(1, keepdim=True).clamp(min=1.0)


class Reader(nn.Module):
    """An encoder whose memory mixes each position with the mean of all.

    int64 (B, S) and a mask (B, S) or None -> (B, S, D). With `paired` the memory is a pair of two such tensors, with
    `named` a dict of them: the form of a memory is up to encoder and decoder. `calls` has for every call the number of
    positions and whether there was a mask.
    """

    def __init__(self, n_tokens: int, width: int, paired: bool = False, named: bool = False) -> None:
        super().__init__()
        self.table, self.paired, self.named = nn.Embedding(n_tokens, width), paired, named
        self.calls: list[list[int | bool]] = []

    def forward(self, source: Tensor, source_mask: Tensor | None = None) -> Memory:
        """int64 (B, S), bool (B, S) -> (B, S, D), or a pair or a dict of those."""
        self.calls.append([source.shape[1], source_mask is not None])
        read = self.table(source)
        memory = (read + _open_mean(read, source_mask)).tanh()
        if self.named:
            return {"memory": memory, "read": -2 * read}
        return (memory, -2 * read) if self.paired else memory


class Writer(nn.Module):
    """A decoder of the tokens up to each position and a `Reader`'s memory.

    int64 (B, T), memory, mask -> logits (B, T, N)
    """

    def __init__(self, n_tokens: int, width: int) -> None:
        super().__init__()
        self.table, self.out = nn.Embedding(n_tokens, width), nn.Linear(width, n_tokens, bias=False)
        self.calls: list[list[int | bool]] = []

    def forward(self, targets_in: Tensor, memory: Memory, source_mask: Tensor | None = None) -> Tensor:
        """int64 (B, T), (B, S, D) or a pair or a dict of those, bool (B, S) -> (B, T, N)."""
        self.calls.append([targets_in.shape[1], source_mask is not None])
        named = tuple(memory.values()) if isinstance(memory, dict) else memory
        parts = named if isinstance(named, tuple) else (named,)
        asked = torch.stack([_open_mean(part, source_mask) for part in parts]).sum(0)
        logits: Tensor = self.out((self.table(targets_in).cumsum(1) + 3 * asked).tanh())
        return logits


class PositionalReader(Reader):
    """A `Reader` that takes its two arguments by position only, and the mask always."""

    def forward(self, source: Tensor, mask: Tensor | None, /) -> Memory:  # type: ignore[override]
        """int64 (B, S), bool (B, S) or None -> as `Reader`."""
        return super().forward(source, mask)


class PositionalWriter(Writer):
    """A `Writer` that takes its three arguments by position only, and the mask always."""

    def forward(self, targets_in: Tensor, memory: Memory, mask: Tensor | None, /) -> Tensor:  # type: ignore[override]
        """int64 (B, T), memory, bool (B, S) or None -> (B, T, N)."""
        return super().forward(targets_in, memory, mask)


def story(table: Tensor, fade: float = 0.0, kept: bool = False) -> Callable[[Sequence[int]], Tensor]:
    """A search's step function: list of ids -> log-probabilities (N,) of the next token.

    `table` (N, N) has logits, one row per previous token. The last token counts in full, each one before it `fade`
    times as much as the one after it. If `kept`, only the last token counts, and the step returns a row of a table that
    it keeps: a caller that changes the row in place changes later results. Raises TypeError for a tensor.
    """
    rows = table.log_softmax(-1)

    def step(ids: Sequence[int]) -> Tensor:
        if isinstance(ids, Tensor):
            raise TypeError("step takes a list of ids, and was given a tensor")
        if kept:
            return rows[ids[-1]]
        logits = torch.zeros_like(table[0])
        for i in ids:
            logits = fade * logits + table[i]
        return logits.log_softmax(-1)

    return step
