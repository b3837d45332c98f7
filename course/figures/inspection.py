"""Figures of lesson 11: predictions by layer, and a loaded model's attention."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from .base import plain, row, with_alt_text
from .panels import heat_map
from .style import ink_on

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def shown(tokens: Sequence[str]) -> list[str]:
    """Convert tokens to labels, with signs for whitespace."""
    return [token.replace(" ", "␣").replace("\n", "↵") for token in tokens]


def lens(said: Sequence[Sequence[str]], sure: torch.Tensor, read: Sequence[str], right: Sequence[str]) -> Figure:
    """The prediction of each of L layers at each of T positions, with alt text.

    said   (L, T) predicted tokens
    sure   (L, T) their probabilities
    read   the T tokens that the model reads
    right  the T tokens that follow
    """
    cells = plain(sure)
    figure, (ax,) = row(1, width=min(9.6, 2.0 + 0.3 * len(read)), height=1.5 + 0.42 * len(said))
    names = ["embedding", *(f"layer {layer}" for layer in range(len(said) - 1))]
    heat_map(cells, ax=ax, rows=names, columns=shown(read), numbers=False)
    image: Any = ax.images[0]
    image.colorbar.remove()  # too tall beside a few rows; the caption has the scale
    for layer, tokens in enumerate(said):
        for place, token in enumerate(shown(tokens)):
            ink = ink_on(image.cmap(image.norm(float(cells[layer, place]))))
            heavy = "bold" if tokens[place] == right[place] else "normal"
            ax.text(place, layer, token, ha="center", va="center", color=ink, fontsize=9, fontweight=heavy)
    ax.set_xlabel("the letter read; in the cell the one that the layer expects next, bold where it does come next")
    hits = [sum(a == b for a, b in zip(tokens, right, strict=True)) for tokens in said]
    details = ", ".join(f"{name} {hit} of {len(right)}" for name, hit in zip(names, hits, strict=True))
    return with_alt_text(
        figure, f"A map with a row for each layer and a column for each letter. Next letters right: {details}."
    )


def heads(scores: torch.Tensor, title: str = "") -> Figure:
    """A map (L, H) of one number per head, layers by heads, with alt text."""
    figure, (ax,) = row(1, width=1.6 + 0.75 * scores.shape[1], height=1.1 + 0.5 * scores.shape[0])
    rows, columns = ([f"{name} {i}" for i in range(n)] for name, n in zip(("layer", "head"), scores.shape, strict=True))
    heat_map(scores, ax=ax, rows=rows, columns=columns, numbers=True, title=title)
    details = "; ".join(
        f"layer {layer}: " + ", ".join(f"{score:.2f}" for score in line) for layer, line in enumerate(scores.tolist())
    )
    return with_alt_text(figure, f"A map of numbers from 0 to 1, one for each head. {details}.")


def attention_maps(weights: torch.Tensor, tokens: Sequence[str], titles: Sequence[str]) -> Figure:
    """Maps (n, T, T) over many tokens, without numbers, future hatched, with alt text."""
    figure, panels = row(len(weights), width=4.2, height=3.9)
    for head, ax, title in zip(weights, panels, titles, strict=True):
        future = torch.ones_like(head).triu(1).bool()
        heat_map(
            head,
            ax=ax,
            part="weights",
            rows=shown(tokens),
            columns=shown(tokens),
            blocked=future,
            numbers=False,
            title=title,
        )
        ax.tick_params(labelsize=min(6.0, 260 / len(tokens)))
        ax.set(ylabel="queries")
    details = "; ".join(f"{title}: {_in_words(head)}" for title, head in zip(titles, weights, strict=True))
    return with_alt_text(
        figure, f"Attention maps over {len(tokens)} tokens, queries downwards, keys across. {details}."
    )


def _in_words(weights: torch.Tensor) -> str:
    gaps = torch.arange(len(weights)) - weights.argmax(-1)
    common = int(gaps.mode().values)
    return f"{int((gaps == common).sum())} of {len(weights)} queries look most at the place {common} before their own"
