"""A small model that consists of attention alone, whose heads have circuits: for lesson 11.

    model = attention_only.load()
    ids = torch.tensor([model.letters.encode("qwerqwer")])    # (1, 8)
    run = model.run(ids)                                      # logits, and the activations of both layers

A token is a letter from a to z. There are no MLPs, no norms and no biases, so the residual stream is a sum: the
embedding and what each head adds to it. Layer 0 rotates queries and keys by their positions, layer 1 does not.
`tools/train_attention_only.py` trained the model on random letters that repeat. It has the course's own licence.
"""

from __future__ import annotations

import string
from collections.abc import Mapping
from importlib.resources import as_file, files

import torch
from torch import Tensor, nn

from .gpt import Change, CharTokenizer, Run
from .modern_lm import Attention, run_layers
from .small_lm import read_weights

FILE = "models/attention_only.safetensors"
ROTATES = (True, False)  # one entry per layer


class AttentionOnly(nn.Module):
    """Ids (B, T) -> logits (B, T, N).

    Parts: tokens, an nn.Embedding(N, D); blocks, a list of `Attention`; unembed, an nn.Linear(D, N, bias=False).

    letters  turns text into ids and back
    notes    how it was trained: seed, seconds, losses, digest
    """

    def __init__(self, d_model: int = 64, n_heads: int = 4, notes: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self.letters, self.notes = CharTokenizer(string.ascii_lowercase), dict(notes or {})
        self.n_heads = n_heads
        n_tokens = len(self.letters.alphabet)
        self.tokens = nn.Embedding(n_tokens, d_model)
        self.blocks = nn.ModuleList(Attention(d_model, n_heads, rotates) for rotates in ROTATES)
        self.unembed = nn.Linear(d_model, n_tokens, bias=False)

    def forward(self, ids: Tensor) -> Tensor:
        """(B, T) -> (B, T, N)"""
        x = self.tokens(ids)
        for attention in self.blocks:
            x = x + attention(x)
        logits: Tensor = self.unembed(x)
        return logits

    def run(self, ids: Tensor, change: Change | None = None) -> Run:
        """Run the model on ids (B, T) and return all activations.

        `change(layer, heads)` may replace the heads' outputs of a layer, (B, H, T, K).
        """
        return run_layers(self.tokens(ids), self.blocks, self.unembed, change)


def load() -> AttentionOnly:
    """Load the trained model, in float32 and without gradients; each call returns a new one.

    Raises FileNotFoundError if its file is missing, ValueError if the file is damaged.
    """
    with as_file(files("course").joinpath(FILE)) as path:
        weights, notes = read_weights(path, "the attention-only model")
    with torch.random.fork_rng(devices=[]):  # the caller's next random numbers stay the same
        model = AttentionOnly(notes=notes)
    model.load_state_dict({name: stored.float() for name, stored in weights.items()})
    return model.requires_grad_(False).eval()
