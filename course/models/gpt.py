"""A model like GPT-2 with the course's names, and checkpoints with GPT-2's names.

Lesson 11 teaches how to load a checkpoint into a model, so nothing here does it. `load_bundled_model` reads the
course's own small checkpoint, made by `tools/train_bundled_model.py`; `course.models.pretrained` fetches published
ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files

import torch
from safetensors import safe_open
from torch import Tensor, nn

from .right_functions.lesson_05 import masked_attention

Checkpoint = dict[str, Tensor]
Attend = Callable[[Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]
Change = Callable[[int, Tensor], Tensor]


@dataclass(frozen=True)
class Run:
    """Activations of a model on B texts of T tokens; L layers with H heads of width K.

    logits   (B, T, N)
    hidden   (L + 1, B, T, D): the input of the first layer, and the output of each
    heads    (L, B, H, T, K): the output of each head, before W_o
    weights  (L, B, H, T, T): the attention weights of each head
    """

    logits: Tensor
    hidden: Tensor
    heads: Tensor
    weights: Tensor


class Heads(nn.Module):
    """Causal multi-head self-attention.

    Parts: W_q, W_k, W_v, W_o, each nn.Linear(D, D) with a bias. `attend(query, key, value, mask)` computes attention on
    (B, H, T, K) with a mask (T, T), True = blocked.
    """

    def __init__(self, d_model: int, n_heads: int, attend: Attend = masked_attention) -> None:
        super().__init__()
        self.n_heads, self.attend = n_heads, attend
        self.W_q, self.W_k, self.W_v, self.W_o = map(nn.Linear, [d_model] * 4, [d_model] * 4)

    def forward(self, x: Tensor, change: Callable[[Tensor], Tensor] | None = None) -> tuple[Tensor, Tensor, Tensor]:
        """x (B, T, D) -> output (B, T, D), heads (B, H, T, K), weights (B, H, T, T).

        `heads` are the heads' outputs before W_o, after `change`, if given.
        """
        query, key, value = (
            projection(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for projection in (self.W_q, self.W_k, self.W_v)
        )
        future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).triu(1)
        heads, weights = self.attend(query, key, value, future)
        heads = heads if change is None else change(heads)
        return self.W_o(heads.transpose(1, 2).flatten(2)), heads, weights


class Block(nn.Module):
    """A pre-norm block, as in lesson 08.

    Parts: norm_1, attention (`Heads`), norm_2, mlp (Linear, GELU, Linear). GPT-2's GELU is the approximation by tanh.
    """

    def __init__(self, d_model: int, n_heads: int, attend: Attend = masked_attention) -> None:
        super().__init__()
        self.norm_1, self.norm_2 = map(nn.LayerNorm, (d_model, d_model))
        self.attention = Heads(d_model, n_heads, attend)
        wide = nn.Linear(d_model, 4 * d_model), nn.GELU(approximate="tanh"), nn.Linear(4 * d_model, d_model)
        self.mlp = nn.Sequential(*wide)

    def forward(self, x: Tensor, change: Callable[[Tensor], Tensor] | None = None) -> tuple[Tensor, Tensor, Tensor]:
        """As `Heads.forward`, with the block's output."""
        attended, heads, weights = self.attention(self.norm_1(x), change)
        x = x + attended
        return x + self.mlp(self.norm_2(x)), heads, weights


class GPT(nn.Module):
    """int64 ids (B, T) -> logits (B, T, N).

    Parts: tokens, an nn.Embedding(N, D), also used to unembed; places, an nn.Embedding(block_size, D); blocks, a list
    of `Block`; norm, an nn.LayerNorm(D). Raises ValueError for more tokens than `block_size`.
    """

    def __init__(
        self,
        n_tokens: int,
        d_model: int,
        n_layers: int,
        n_heads: int,
        block_size: int,
        attend: Attend = masked_attention,
    ) -> None:
        super().__init__()
        self.block_size = block_size
        self.tokens, self.places = nn.Embedding(n_tokens, d_model), nn.Embedding(block_size, d_model)
        self.blocks = nn.ModuleList(Block(d_model, n_heads, attend) for _ in range(n_layers))
        self.norm = nn.LayerNorm(d_model)

    def forward(self, ids: Tensor) -> Tensor:
        """int64 (B, T) -> (B, T, N)."""
        return self.run(ids).logits

    def run(self, ids: Tensor, change: Change | None = None) -> Run:
        """Run the model on ids (B, T) and return all activations.

        `change(layer, heads)` may replace the heads' outputs of a layer, (B, H, T, K).
        """
        if ids.shape[1] > self.block_size:
            raise ValueError(f"ids has the shape {tuple(ids.shape)}, and block_size is {self.block_size}")
        x = self.tokens(ids) + self.places.weight[: ids.shape[1]]
        hidden, heads, weights = [x], [], []
        for layer, block in enumerate(self.blocks):
            x, *seen = block(x, None if change is None else (lambda outputs, at=layer: change(at, outputs)))
            hidden.append(x)
            heads.append(seen[0])
            weights.append(seen[1])
        logits = self.norm(x) @ self.tokens.weight.T
        return Run(logits, torch.stack(hidden), torch.stack(heads), torch.stack(weights))


@dataclass(frozen=True)
class CharTokenizer:
    """A tokenizer with one token per letter of `alphabet`."""

    alphabet: str

    def encode(self, text: str) -> list[int]:
        """The ids of a text. Raises ValueError, naming letters outside the alphabet."""
        strange = sorted(set(text) - set(self.alphabet))
        if strange:
            raise ValueError(f"text has {', '.join(map(repr, strange))}; the model knows only {self.alphabet!r}")
        return [self.alphabet.index(letter) for letter in text]

    def decode(self, ids: Sequence[int]) -> list[str]:
        """The text of each token."""
        return [self.alphabet[i] for i in ids]


@dataclass(frozen=True)
class Sizes:
    """The sizes of a model; all but `n_heads` follow from a checkpoint's shapes."""

    n_tokens: int
    d_model: int
    n_layers: int
    n_heads: int
    block_size: int

    @classmethod
    def of(cls, checkpoint: Checkpoint, n_heads: int) -> Sizes:
        """Read the sizes from a checkpoint's shapes. Raises KeyError without embeddings."""
        (n_tokens, d_model), block_size = checkpoint["wte.weight"].shape, len(checkpoint["wpe.weight"])
        layers = {int(name.split(".")[1]) for name in checkpoint if name.startswith("h.")}
        return cls(n_tokens, d_model, max(layers, default=-1) + 1, n_heads, block_size)

    def model(self, attend: Attend = masked_attention) -> GPT:
        """A model of these sizes with random weights."""
        return GPT(self.n_tokens, self.d_model, self.n_layers, self.n_heads, self.block_size, attend)


class _AsStored(nn.Module):
    """A linear layer with weights (in, out), as in GPT-2's code: x @ stored + bias."""

    def __init__(self, stored: Tensor, bias: Tensor) -> None:
        super().__init__()
        self.stored, self.bias = stored, bias

    @property
    def weight(self) -> Tensor:
        """The weight as nn.Linear has it, (out, in); a view."""
        return self.stored.mT

    def forward(self, x: Tensor) -> Tensor:
        """(..., in) -> (..., out)"""
        return x @ self.stored + self.bias


def model_over_checkpoint(checkpoint: Checkpoint, n_heads: int, attend: Attend = masked_attention) -> GPT:
    """A model that uses a checkpoint's tensors in place, without copying or reshaping.

    It is the reference for a loaded model, and its fallback.
    """
    sizes = Sizes.of(checkpoint, n_heads)
    model = sizes.model(attend)

    def use_stored(part: nn.Module, name: str) -> None:
        part.weight, part.bias = (nn.Parameter(checkpoint[f"{name}.{kind}"], False) for kind in ("weight", "bias"))

    def layer(name: str, columns: slice = slice(None)) -> _AsStored:
        return _AsStored(checkpoint[f"{name}.weight"][:, columns], checkpoint[f"{name}.bias"][columns])

    model.tokens.weight, model.places.weight = (nn.Parameter(checkpoint[f"{n}.weight"], False) for n in ("wte", "wpe"))
    use_stored(model.norm, "ln_f")
    for i, block in enumerate(model.blocks):
        use_stored(block.get_submodule("norm_1"), f"h.{i}.ln_1")
        use_stored(block.get_submodule("norm_2"), f"h.{i}.ln_2")
        attention, mlp = block.get_submodule("attention"), block.get_submodule("mlp")
        for place, letter in enumerate("qkv"):
            columns = slice(place * sizes.d_model, (place + 1) * sizes.d_model)
            attention.add_module(f"W_{letter}", layer(f"h.{i}.attn.c_attn", columns))
        attention.add_module("W_o", layer(f"h.{i}.attn.c_proj"))
        mlp.add_module("0", layer(f"h.{i}.mlp.c_fc"))
        mlp.add_module("2", layer(f"h.{i}.mlp.c_proj"))
    return model


def load_bundled_model() -> tuple[Checkpoint, Sizes, CharTokenizer]:
    """The course's own small model: checkpoint, sizes and tokenizer (MIT licence).

    The checkpoint has the names and layout of a published GPT-2, including masks (`h.0.attn.bias`).
    """
    with (
        as_file(files("course").joinpath("models/harbour.safetensors")) as path,
        safe_open(path, framework="pt") as file,
    ):
        notes = file.metadata()
        checkpoint = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dict
    return checkpoint, Sizes.of(checkpoint, int(notes["n_head"])), CharTokenizer(notes["alphabet"])
