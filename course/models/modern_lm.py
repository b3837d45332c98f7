"""A small language model with the parts of today's: RMSNorm, SwiGLU, RoPE, no biases, one table of embeddings.

Each function that a lesson has its learners write is one of its `Parts`, and can be replaced. Layer 0 does not rotate,
as some layers of some published models do not: there a query is `x @ W_q`, and a score the dot product of a query and
a key over √K. The other layers rotate.

Does not cover: words, and the trained weights (`course.models.small_lm`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .gpt import Change, Run
from .right_functions.lesson_02 import log_softmax
from .right_functions.lesson_03 import embed
from .right_functions.lesson_05 import causal_mask
from .right_functions.lesson_06 import merge_heads, split_heads
from .right_functions.lesson_07 import apply_rope

ROTATES = (False, True, True)  # one entry per layer


def dot_products(query: Tensor, key: Tensor) -> Tensor:
    """(..., T, K), (..., T, K) -> (..., T, T)"""
    return query @ key.mT


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Scores (..., T, T), mask (T, T), True = blocked -> weights (..., T, T)."""
    return torch.softmax(scores.masked_fill(mask, -torch.inf), dim=-1)


def attend(parts: Parts, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Causal, scaled attention: each (B, H, T, K) -> (B, H, T, K)."""
    scale = query.shape[-1] ** -0.5 if parts.scale is None else parts.scale
    weights = parts.weights(parts.scores(query, key) * scale, parts.mask(query.shape[-2]))
    return weights @ value


@dataclass(frozen=True)
class Parts:
    """The functions that the model consists of, (B, H, T, K) where heads are split.

    scale    what scores are multiplied by; 1 / √K by default
    mask     T -> bool (T, T), True = blocked
    attend   (parts, query, key, value) -> output
    whole    replaces the whole attention of a layer: (attention, x (B, T, D)) -> (B, T, D)
    """

    embed: Callable[[Tensor, Tensor], Tensor] = embed
    split: Callable[[Tensor, int], Tensor] = split_heads
    rope: Callable[[Tensor, Tensor], Tensor] = apply_rope
    scores: Callable[[Tensor, Tensor], Tensor] = dot_products
    scale: float | None = None
    mask: Callable[[int], Tensor] = causal_mask
    weights: Callable[[Tensor, Tensor], Tensor] = masked_softmax
    attend: Callable[[Parts, Tensor, Tensor, Tensor], Tensor] = attend
    merge: Callable[[Tensor], Tensor] = merge_heads
    whole: Callable[[Attention, Tensor], Tensor] | None = None
    log_softmax: Callable[[Tensor], Tensor] = log_softmax


BUILT_IN = Parts()


class RMSNorm(nn.Module):
    """Divide x (..., D) by its root mean square; multiply by a learned gain (D,)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        """(..., D) -> (..., D)"""
        return x * (x.square().mean(-1, keepdim=True) + 1e-6).rsqrt() * self.gain


class Attention(nn.Module):
    """Causal multi-head attention; parts: W_q, W_k, W_v, W_o, each nn.Linear(D, D, bias=False)."""

    def __init__(self, d_model: int, n_heads: int, rotates: bool) -> None:
        super().__init__()
        self.d_model, self.n_heads, self.rotates = d_model, n_heads, rotates
        layers = [nn.Linear(d_model, d_model, bias=False) for _ in range(4)]
        self.W_q, self.W_k, self.W_v, self.W_o = layers

    def heads(self, x: Tensor, parts: Parts = BUILT_IN) -> list[Tensor]:
        """Query, key and value (B, H, T, K) of x (B, T, D), not rotated yet."""
        return [parts.split(layer(x), self.n_heads) for layer in (self.W_q, self.W_k, self.W_v)]

    def rotated(self, vectors: Tensor, parts: Parts = BUILT_IN) -> Tensor:
        """Vectors (B, H, T, K) turned by their positions; unchanged in a layer that does not rotate."""
        positions = torch.arange(vectors.shape[-2], device=vectors.device)
        return parts.rope(vectors, positions) if self.rotates else vectors

    def forward(self, x: Tensor, parts: Parts = BUILT_IN) -> Tensor:
        """(B, T, D) -> (B, T, D)"""
        if parts.whole is not None:
            return parts.whole(self, x)
        query, key, value = self.heads(x, parts)
        output: Tensor = self.W_o(
            parts.merge(parts.attend(parts, self.rotated(query, parts), self.rotated(key, parts), value))
        )
        return output

    def run(self, x: Tensor, change: Callable[[Tensor], Tensor] | None = None) -> tuple[Tensor, Tensor, Tensor]:
        """x (B, T, D) -> output (B, T, D), heads (B, H, T, K), weights (B, H, T, T).

        `heads` are the heads' outputs before W_o, after `change`, if given.
        """
        query, key, value = self.heads(x)
        scores = BUILT_IN.scores(self.rotated(query), self.rotated(key)) * query.shape[-1] ** -0.5
        weights = BUILT_IN.weights(scores, BUILT_IN.mask(x.shape[1]))
        heads = weights @ value
        heads = heads if change is None else change(heads)
        return self.W_o(BUILT_IN.merge(heads)), heads, weights


class SwiGLU(nn.Module):
    """A gated feed-forward layer: W_down(silu(W_gate x) * W_up x)."""

    def __init__(self, d_model: int, hidden: int) -> None:
        super().__init__()
        self.W_gate, self.W_up = (nn.Linear(d_model, hidden, bias=False) for _ in range(2))
        self.W_down = nn.Linear(hidden, d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """(..., D) -> (..., D)"""
        output: Tensor = self.W_down(F.silu(self.W_gate(x)) * self.W_up(x))
        return output


class Block(nn.Module):
    """A pre-norm block; parts: norm_1, attention, norm_2, mlp."""

    def __init__(self, d_model: int, n_heads: int, hidden: int, rotates: bool) -> None:
        super().__init__()
        self.norm_1, self.norm_2 = RMSNorm(d_model), RMSNorm(d_model)
        self.attention, self.mlp = Attention(d_model, n_heads, rotates), SwiGLU(d_model, hidden)

    def forward(self, x: Tensor, parts: Parts = BUILT_IN) -> Tensor:
        """(B, T, D) -> (B, T, D)"""
        x = x + self.attention(self.norm_1(x), parts)
        output: Tensor = x + self.mlp(self.norm_2(x))
        return output

    def run(self, x: Tensor, change: Callable[[Tensor], Tensor] | None = None) -> tuple[Tensor, Tensor, Tensor]:
        """As `Attention.run`, with the block's output."""
        attended, heads, weights = self.attention.run(self.norm_1(x), change)
        x = x + attended
        return x + self.mlp(self.norm_2(x)), heads, weights


class ModernLM(nn.Module):
    """Ids (B, T) or (T,) -> logits (B, T, N) or (T, N).

    Parts: tokens, an nn.Embedding(N, D), also used to unembed; blocks, a list of `Block`; norm, an `RMSNorm`.
    """

    def __init__(self, n_tokens: int, d_model: int = 96, n_heads: int = 4, hidden: int = 256) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.tokens = nn.Embedding(n_tokens, d_model)
        self.blocks = nn.ModuleList(Block(d_model, n_heads, hidden, rotates) for rotates in ROTATES)
        self.norm = RMSNorm(d_model)

    def forward(self, ids: Tensor, parts: Parts = BUILT_IN) -> Tensor:
        """(B, T) -> (B, T, N), or (T,) -> (T, N)"""
        x = parts.embed(torch.atleast_2d(ids), self.tokens.weight)
        for block in self.blocks:
            x = block(x, parts)
        logits: Tensor = self.norm(x) @ self.tokens.weight.T
        return logits if ids.ndim > 1 else logits[0]

    def run(self, ids: Tensor, change: Change | None = None) -> Run:
        """Run the model on ids (B, T) and return all activations.

        `change(layer, heads)` may replace the heads' outputs of a layer, (B, H, T, K).
        """
        x = BUILT_IN.embed(ids, self.tokens.weight)
        return run_layers(x, self.blocks, lambda x: self.norm(x) @ self.tokens.weight.T, change)

    def losses(self, ids: Tensor, parts: Parts = BUILT_IN) -> Tensor:
        """Loss of each token but the first, in nats: ids (B, T) -> (B, T - 1)."""
        logarithms = parts.log_softmax(self(ids, parts)[:, :-1])
        return -logarithms.gather(-1, ids[:, 1:, None])[..., 0]


def run_layers(
    x: Tensor, layers: Iterable[nn.Module], unembed: Callable[[Tensor], Tensor], change: Change | None = None
) -> Run:
    """Activations of layers with a method `run`, from their input x (B, T, D) to the logits of `unembed`.

    The layers are blocks, which return their output, or plain attentions, whose output is added to x.
    """
    hidden, heads, weights = [x], [], []
    for layer, part in enumerate(layers):
        assert isinstance(part, Block | Attention)
        outputs, *seen = part.run(x, None if change is None else partial(change, layer))
        x = outputs if isinstance(part, Block) else x + outputs
        hidden.append(x)
        heads.append(seen[0])
        weights.append(seen[1])
    return Run(unembed(x), torch.stack(hidden), torch.stack(heads), torch.stack(weights))
