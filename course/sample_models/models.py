"""Language models of lesson 08: ids (B, T) -> logits (B, T, N)."""

from __future__ import annotations

import torch
from torch import Tensor, nn


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
