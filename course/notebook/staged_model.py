"""A model that grows from lesson 3 to lesson 8, built from the learner's own answers.

The course's functions replace parts that do not pass yet. A lesson adds parts or replaces earlier ones, see `STAGES`.
The model is not trained until lesson 8: `StagedModel.maps` returns its attention weights for a few letters, with the
same parameters in every lesson.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from .session import Session, current
from .stand_ins import StandIn

WIDTH, HEADS = 32, 2
ALPHABET = "abcdefghijklmnopqrstuvwxyz ,."


@dataclass(frozen=True)
class Part:
    """A part of the model: an exercise, and what it `does`.

    until  the lesson that replaces it
    """

    lesson: str
    name: str
    does: str
    until: str = "99"


STAGES = (
    Part("03_queries_keys_values", "embed", "a vector for each letter"),
    Part("03_queries_keys_values", "SelfAttention", "queries, keys, values", "06"),
    Part("03_queries_keys_values", "attention", "every letter looks at all", "04"),
    Part("04_scaling", "scaled_dot_product_attention", "the same, scaled", "05"),
    Part("05_causal_mask", "causal_mask", "no position sees the future"),
    Part("05_causal_mask", "masked_attention", "scaled, with a mask", "06"),
    Part("06_multi_head", "MultiHeadAttention", "several heads at once", "07"),
    Part("07_rope", "RotarySelfAttention", "heads that know positions"),
)


class StagedModel:
    """The model after a lesson.

    parts  name -> the stand-in for the learner's part (see `.passes`), in the model's order
    """

    def __init__(self, session: Session) -> None:
        number, stand_ins = (session.lesson or "")[:2], session.stand_ins
        here = [part for part in STAGES if part.lesson[:2] <= number < part.until]
        self.stage = max(part.lesson for part in here)[:2]
        self.does = {part.name: part.does for part in here}
        self.parts: dict[str, StandIn] = {part.name: stand_ins.stand_in(part.name, part.lesson) for part in here}

    @torch.no_grad()
    def maps(self, text: str) -> Tensor:
        """Attention weights (H, T, T) over T letters of ALPHABET."""
        generator = torch.Generator().manual_seed(3)
        table = torch.randn(len(ALPHABET), WIDTH, generator=generator)
        look, *rest = torch.randn(3, WIDTH, WIDTH, generator=generator) / WIDTH**0.5
        ids = torch.tensor([[ALPHABET.index(letter) for letter in text]])
        look = 0.65 * look  # unscaled scores are peaked, scaled ones are not
        _, weights = self._attend(self.parts["embed"](ids, table), [look, look, *rest])
        return weights.detach().reshape(-1, len(text), len(text))

    def _attend(self, x: Tensor, matrices: list[Tensor]) -> tuple[Tensor, Tensor]:
        parts, T = self.parts, x.shape[1]
        whole = {"06": "MultiHeadAttention", "07": "RotarySelfAttention"}.get(self.stage)
        if whole:
            module = parts[whole](WIDTH, HEADS)
            _fill(module, matrices)
            return _pair(module(x, mask=parts["causal_mask"](T)))
        layers = parts["SelfAttention"](WIDTH, WIDTH, WIDTH)
        _fill(layers, matrices)
        projected = [layer(x) for layer in (layers.W_q, layers.W_k, layers.W_v)]
        if self.stage == "05":
            return _pair(parts["masked_attention"](*projected, parts["causal_mask"](T)))
        return _pair(parts["attention" if self.stage == "03" else "scaled_dot_product_attention"](*projected))


def current_model() -> StagedModel:
    """The model after the current lesson. Raises ValueError before lesson 3."""
    session = current()
    if (session.lesson or "")[:2] < "03":
        raise ValueError(f"lesson {session.lesson!r} has no model: the model starts in lesson 3")
    return StagedModel(session)


def _fill(module: nn.Module, matrices: list[Tensor]) -> None:
    """Copy the matrices (D, D), used as x @ W, to W_q, W_k, W_v and, if there is one, W_o."""
    for name, matrix in zip(("W_q", "W_k", "W_v", "W_o"), matrices, strict=True):
        if hasattr(module, name):
            module.get_parameter(f"{name}.weight").copy_(matrix.mT)


def _pair(result: Any) -> tuple[Tensor, Tensor]:
    output, weights = result
    return output, weights
