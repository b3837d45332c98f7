"""The small language model made of a learner's parts, for lesson 08.

    parts = TransformerBlock, MultiHeadAttention, RotarySelfAttention, causal_mask
    model = OwnBlocksLM(*parts, weights=small_lm.empty())
    model(ids)              # logits (B, T, N)
    model.to_small_lm()     # the same weights in the model that `small_lm.keep` takes
    with_repeats(inputs, targets, N, generator)  # a batch, with random words that repeat in one row of four

A `TransformerBlock` has other names for its parameters than `modern_lm.Block`, whose names are the values of `NAMES`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from . import small_lm
from .modern_lm import ROTATES, Block, ModernLM, RMSNorm

NAMES = {"gain_1": "norm_1.gain", "gain_2": "norm_2.gain"}
NAMES |= {f"W_{name}.weight": f"mlp.W_{name}.weight" for name in ("gate", "up", "down")}


def random_repeats(rows: int, length: int, longest: int, n_tokens: int, generator: torch.Generator) -> Tensor:
    """Random tokens that repeat, int64 (rows, length), with periods of 3 to `longest`; a generator on the CPU."""
    periods = torch.randint(3, longest + 1, (rows, 1), generator=generator)
    drawn = torch.randint(n_tokens, (rows, length), generator=generator)
    return drawn.gather(1, torch.arange(length) % periods)


def with_repeats(inputs: Tensor, targets: Tensor, n_tokens: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Return a batch, (B, T) each, with `random_repeats` in the first quarter of its rows.

    Heads that continue repetitions form sooner if there are many.
    """
    rows, T = len(inputs) // 4, inputs.shape[1]
    repeated = random_repeats(rows, T + 1, 12, n_tokens, generator).to(inputs.device)
    return torch.cat([repeated[:, :-1], inputs[rows:]]), torch.cat([repeated[:, 1:], targets[rows:]])


class OwnBlocksLM(nn.Module):
    """Ids (B, T) -> logits (B, T, N): an embedding table, blocks, RMSNorm, and the table again.

    block    `TransformerBlock`, or a class with its arguments
    heads    `MultiHeadAttention`, for layers that do not rotate
    rotary   `RotarySelfAttention`, for those that do
    mask     `causal_mask`
    weights  the small language model whose weights are copied. Without it they are random, from a seed, and sizes may
             differ from the small model's

    If these parts fail here, the course's blocks are used, and this is printed.
    """

    mask: Tensor

    def __init__(
        self,
        block: Callable[..., Any],
        heads: Callable[..., Any],
        rotary: Callable[..., Any],
        mask: Callable[[int], Tensor],
        weights: ModernLM | None = None,
        *,
        seed: int = 0,
        block_size: int = 64,
        d_model: int = 96,
        n_heads: int = 4,
        n_blocks: int = 3,
    ) -> None:
        super().__init__()
        self.block_size, hidden = block_size, d_model * 8 // 3
        n_tokens = len((weights or small_lm.empty()).tokens.weight)

        def own(rotates: bool) -> Any:
            return block((rotary if rotates else heads)(d_model, n_heads), d_model, hidden)

        def course_block(rotates: bool) -> Any:
            return _Masked(d_model, n_heads, hidden, rotates)

        for make in (own, course_block):
            try:
                with torch.random.fork_rng(devices=[]):  # the caller's next random numbers stay the same
                    torch.manual_seed(seed)
                    self.tokens, self.norm = nn.Embedding(n_tokens, d_model), RMSNorm(d_model)
                    nn.init.normal_(self.tokens.weight, std=0.06)
                    self.blocks = nn.ModuleList(make(rotates) for rotates in ROTATES[-n_blocks:])
                    future = mask(block_size) if make is own else torch.ones(block_size, block_size).triu(1).bool()
                    self.register_buffer("mask", future, persistent=False)
                    if weights is not None:
                        given = weights.state_dict()
                        self.load_state_dict({name: given[_small_name(name)] for name in self.state_dict()})
                    self._try_out()
                break
            except Exception as error:
                if make is course_block:
                    raise
                print(f"With the course's blocks, because yours fail in the model: {error}")

    def forward(self, ids: Tensor) -> Tensor:
        """(B, T) -> (B, T, N)"""
        x, T = self.tokens(ids), ids.shape[1]
        for block in self.blocks:
            x = block(x, self.mask[:T, :T])
        logits: Tensor = self.norm(x) @ self.tokens.weight.mT
        return logits

    def to_small_lm(self) -> small_lm.SmallLM:
        """Return a `SmallLM` with these weights, on the CPU. Raises RuntimeError if the sizes are others."""
        model = small_lm.empty()
        model.load_state_dict({_small_name(name): weight.detach().cpu() for name, weight in self.state_dict().items()})
        return model.requires_grad_(False).eval()

    @torch.no_grad()
    def _try_out(self) -> None:
        for T in (self.block_size, 2):
            ids = torch.zeros(1, T, dtype=torch.int64)
            logits = self(ids)
            if logits.shape != (1, T, len(self.tokens.weight)):
                raise ValueError(f"expected {(1, T, len(self.tokens.weight))}, got {tuple(logits.shape)}")


class _Masked(Block):
    """The course's block, which has a causal mask of its own, with the arguments of a `TransformerBlock`."""

    def forward(self, x: Tensor, mask: Any = None) -> Tensor:
        """(B, T, D) -> (B, T, D)"""
        return super().forward(x)


def _small_name(name: str) -> str:
    """The name of a parameter in the small model: "blocks.0.W_up.weight" -> "blocks.0.mlp.W_up.weight"."""
    head, _, rest = name.partition(".")
    number, _, own = rest.partition(".")
    return f"blocks.{number}.{NAMES.get(own, own)}" if head == "blocks" else name
