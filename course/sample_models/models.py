"""Models that are trained, measured and written with: lesson 08. Ids (B, T) -> logits (B, T, N)."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Enough(Exception):
    """A model has been called as often as it may be; see `Slope`."""


class _Model(nn.Module):
    """A model whose logits show in which state it was called.

    contrary  where that state holds, the logits are multiplied by -1: "flowing", gradients could flow; "training", not
              all parts are in eval mode; "resting", not all are in training mode; "asleep", all are in eval mode. What
              an answer makes of a contrary model, beside what it makes of a plain one, tells how it called it, and
              nothing that is noted here needs to be believed.
    calls     for every call how many tokens were shown, the mode (True in training, False in eval mode, None where
              not all parts are in the same) and whether gradients could flow: for a learner's own eyes

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
    """The next token by the last one only: logits are the rows of `table.weight` (N, N)."""

    def __init__(self, n_tokens: int, block_size: int, contrary: str = "") -> None:
        super().__init__(block_size, contrary)
        self.table = nn.Embedding(n_tokens, n_tokens)

    def logits(self, ids: Tensor) -> Tensor:
        logits: Tensor = self.table(ids)
        return logits


class Windowed(_Model):
    """The next token by all tokens shown so far, each place with a weight of its own in a running sum.

    Parameters: tokens.weight (N, D), places.weight (block_size, D), out.weight (N, D). Dropout falls on what goes into
    `out`, in training mode only; `inner.norm`, where `batch_norm` asks for it, keeps running statistics.
    """

    def __init__(
        self,
        n_tokens: int,
        width: int,
        block_size: int,
        dropout: float = 0.0,
        batch_norm: bool = False,
        contrary: str = "",
    ) -> None:
        super().__init__(block_size, contrary)
        self.tokens, self.places = nn.Embedding(n_tokens, width), nn.Embedding(block_size, width)
        norm = nn.BatchNorm1d(width, affine=False) if batch_norm else nn.Identity()
        self.inner = nn.ModuleDict({"norm": norm, "dropout": nn.Dropout(dropout)})
        self.out = nn.Linear(width, n_tokens, bias=False)

    def logits(self, ids: Tensor) -> Tensor:
        seen = (self.tokens(ids) * self.places.weight[: ids.shape[1]]).cumsum(1).tanh()
        seen = self.inner["norm"](seen.transpose(1, 2)).transpose(1, 2)
        logits: Tensor = self.out(self.inner["dropout"](seen))
        return logits


class Slope(_Model):
    """Two tokens and one weight for each place, all 0 at first.

    At place t the logit of token 0 is `weight[t] / 10 + crowd * B`, that of token 1 is 0. On a text of nothing but
    token 0, with `crowd` 0, the gradient of the mean loss of T places is -0.05 / T for each weight, and changes by less
    than 2.5 % while the weight is below 1. So what an optimizer makes of a constant gradient, its learning rate above
    all, can be read off the weights; a place that was not trained has not moved; and with a `crowd` the loss tells how
    many rows a batch has.

    patience  after so many calls in which gradients could flow it raises Enough, so that the weights can be seen as
              they are on the way; None: never
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
