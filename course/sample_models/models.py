"""Language models of lessons 08 and 09: ids (B, T) -> logits (B, T, N)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ..models.cached_lm import check_room


class Enough(Exception):
    """A model has reached its number of calls, see `Slope`."""


class _Model(nn.Module):
    """A model whose logits show in which state it was called.

    contrary  state in which the logits are negated: "flowing", gradients could flow; "training", not all parts are in
              eval mode; "resting", not all are in training mode; "asleep", all are in eval mode. The results of a
              contrary and a plain model together show how the answer called it, without trusting `calls`.
    calls     for every call: number of tokens, mode (True training, False eval, None mixed) and whether gradients could
              flow; only for the learner

    Raises ValueError for more tokens than `block_size`.
    """

    def __init__(self, block_size: int, contrary: str = "") -> None:
        super().__init__()
        self.block_size, self.contrary = block_size, contrary
        self.calls: list[list[int | bool | None]] = []

    def forward(self, ids: Tensor) -> Tensor:
        """int64 (B, T) -> (B, T, N)."""
        if ids.shape[1] > self.block_size:
            raise ValueError(f"ids has the shape {tuple(ids.shape)}, and block_size is {self.block_size}")
        flows = torch.is_grad_enabled() and any(p.requires_grad for p in self.parameters())
        modes = {part.training for part in self.modules()}
        self.calls.append([ids.shape[1], modes.pop() if len(modes) == 1 else None, flows])
        mode = self.calls[-1][1]
        whole = {"training": mode is not False, "resting": mode is not True, "asleep": mode is False}
        turned = flows if self.contrary == "flowing" else whole.get(self.contrary, False)
        return -self.logits(ids) if turned else self.logits(ids)

    def logits(self, ids: Tensor) -> Tensor:
        raise NotImplementedError


class Bigram(_Model):
    """Predicts by the last token only: logits are the rows of `table.weight` (N, N)."""

    def __init__(self, n_tokens: int, block_size: int, contrary: str = "") -> None:
        super().__init__(block_size, contrary)
        self.table = nn.Embedding(n_tokens, n_tokens)

    def logits(self, ids: Tensor) -> Tensor:
        logits: Tensor = self.table(ids)
        return logits


class Windowed(_Model):
    """Predicts by all tokens so far, in a running sum with a weight for each position.

    Parameters: tokens.weight (N, D), places.weight (block_size, D), out.weight (N, D). Dropout applies to the input of
    `out`, in training mode only; with `batch_norm`, `inner.norm` keeps running statistics. With `traced`, logits are
    times a tensor that is 1 and no parameter: its gradient shows that `backward()` ran, even if all others are cleared.
    """

    def __init__(
        self,
        n_tokens: int,
        width: int,
        block_size: int,
        dropout: float = 0.0,
        batch_norm: bool = False,
        traced: bool = False,
        contrary: str = "",
    ) -> None:
        super().__init__(block_size, contrary)
        self.trace = torch.ones(1, requires_grad=True) if traced else None  # no buffer, which `double()` would replace
        self.tokens, self.places = nn.Embedding(n_tokens, width), nn.Embedding(block_size, width)
        norm = nn.BatchNorm1d(width, affine=False) if batch_norm else nn.Identity()
        self.inner = nn.ModuleDict({"norm": norm, "dropout": nn.Dropout(dropout)})
        self.out = nn.Linear(width, n_tokens, bias=False)

    def logits(self, ids: Tensor) -> Tensor:
        seen = (self.tokens(ids) * self.places.weight[: ids.shape[1]]).cumsum(1).tanh()
        seen = self.inner["norm"](seen.transpose(1, 2)).transpose(1, 2)
        logits: Tensor = self.out(self.inner["dropout"](seen))
        return logits if self.trace is None else logits * self.trace


class Slope(_Model):
    """Two tokens and one weight for each position, initially 0.

    At position t the logit of token 0 is `weight[t] / 10 + crowd * B`, that of token 1 is 0. On a text of token 0 only,
    with `crowd` 0, the gradient of the mean loss of T positions is -0.05 / T for each weight, and changes by less than
    2.5 % while the weight is below 1. The weights then show what an optimizer does with a constant gradient, above all
    its learning rate; an untrained position does not move; and with `crowd` the loss shows the batch size.

    patience  number of calls in which gradients could flow before it raises Enough, to observe the weights during
              training; None: no limit
    """

    def __init__(self, block_size: int, crowd: float = 0.0) -> None:
        super().__init__(block_size)
        self.weight = nn.Parameter(torch.zeros(block_size))
        self.crowd = crowd
        self.patience: int | None = None

    def logits(self, ids: Tensor) -> Tensor:
        if self.calls[-1][2] and self.patience is not None:
            if self.patience == 0:
                raise Enough
            self.patience -= 1
        slope = self.weight / 10 + self.crowd * len(ids)
        logits = torch.stack([slope, torch.zeros_like(slope)], dim=-1)
        return logits[: ids.shape[1]].repeat(len(ids), 1, 1)


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
