"""Figures of lesson 11: predictions by layer, scores of heads, patches, and attention over many tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    longest = max(len(token) for line in [read, *said] for token in line)
    width = 2.0 + (0.3 if longest < 3 else 0.62) * len(read)
    figure, (ax,) = row(1, width=min(9.6, width), height=(1.5 if longest < 5 else 1.9) + 0.42 * len(said))
    names = ["embedding", *(f"layer {layer}" for layer in range(len(said) - 1))]
    heat_map(cells, ax=ax, rows=names, columns=shown(read), numbers=False)
    image: Any = ax.images[0]
    image.colorbar.remove()  # too tall beside a few rows; the caption has the scale
    for layer, tokens in enumerate(said):
        for position, token in enumerate(shown(tokens)):
            ink = ink_on(image.cmap(image.norm(float(cells[layer, position]))))
            heavy = "bold" if tokens[position] == right[position] else "normal"
            size = 9.0 if len(token) < 6 else 52.0 / len(token)
            ax.text(position, layer, token, ha="center", va="center", color=ink, fontsize=size, fontweight=heavy)
    ax.set_xlabel("above: the token read; in a cell: the token predicted next, bold if it is right")
    hits = [sum(a == b for a, b in zip(tokens, right, strict=True)) for tokens in said]
    details = ", ".join(f"{name} {hit} of {len(right)}" for name, hit in zip(names, hits, strict=True))
    return with_alt_text(
        figure, f"A map with a row for each layer and a column for each token. Next tokens right: {details}."
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


def head_maps(panels: Mapping[str, torch.Tensor]) -> Figure:
    """A map (L, H) of one number from 0 to 1 per head for each title, with alt text."""
    layers, count = next(iter(panels.values())).shape
    figure, axes = row(len(panels), width=1.6 + 0.7 * count, height=1.2 + 0.55 * layers)
    details = []
    for ax, (title, scores) in zip(axes, panels.items(), strict=True):
        names = [f"layer {i}" for i in range(layers)], [f"{i}" for i in range(count)]
        heat_map(scores, ax=ax, rows=names[0], columns=names[1], numbers=True, title=f"{title}, by head")
        lines = (", ".join(f"{score:.2f}" for score in line) for line in scores.tolist())
        details.append(f"{title}: " + "; ".join(f"layer {layer}: {line}" for layer, line in enumerate(lines)))
    return with_alt_text(figure, f"Maps of numbers from 0 to 1, one for each head. {'. '.join(details)}.")


def patching(shares: torch.Tensor, heads: Sequence[str], changed: int) -> Figure:
    """The share (heads, T) that the patch of each head at each position restores, with alt text.

    heads    one name per row
    changed  the position at which the two texts differ
    """
    figure, (ax,) = row(1, width=2.2 + 0.6 * shares.shape[1], height=1.3 + 0.36 * len(heads))
    heat_map(
        shares,
        ax=ax,
        rows=heads,
        columns=[str(t) for t in range(shares.shape[1])],
        kind="scores",
        limit=1.0,
        numbers=True,
    )
    ax.set_xlabel(f"position patched (the texts differ at position {changed})")
    large = [f"{heads[r]}, position {c}: {shares[r, c]:.2f}" for r, c in (plain(shares) > 0.15).nonzero().tolist()]
    return with_alt_text(
        figure,
        f"A map of shares with a row for each of {len(heads)} heads and a column for each of {shares.shape[1]} "
        f"positions. Above 0.15: {'; '.join(large) or 'none'}.",
    )


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
        ax.tick_params(labelsize=min(8.0, 150 / len(tokens)))
        ax.set(ylabel="queries")
    details = "; ".join(f"{title}: {_in_words(head)}" for title, head in zip(titles, weights, strict=True))
    return with_alt_text(
        figure, f"Attention maps over {len(tokens)} tokens, queries downwards, keys across. {details}."
    )


def _in_words(weights: torch.Tensor) -> str:
    gaps = torch.arange(len(weights)) - weights.argmax(-1)
    common = int(gaps.mode().values)
    return (
        f"{int((gaps == common).sum())} of {len(weights)} queries look most at the position {common} before their own"
    )
