"""Figures of lesson 11: predictions by layer, scores of heads, patches, and attention over many tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch

from .base import plain, row, with_alt_text, with_caption, with_choices
from .panels import charts, heat_map
from .shapes import write
from .style import ink_on

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..models.small_lm import SmallLM


def shown(tokens: Sequence[str]) -> list[str]:
    """Convert tokens to labels, with signs for whitespace."""
    return [token.replace(" ", "␣").replace("\n", "↵") for token in tokens]


@torch.no_grad()
def layer_by_layer(lm: SmallLM, text: str, logit_lens: Callable[..., torch.Tensor]) -> Figure:
    """The `lens` on a text of the model; `logit_lens(hidden, norm, unembedding)` gives logits (L, 1, T, N)."""
    ids = lm.encode(text)[None]
    logits = logit_lens(lm.run(ids).hidden, lm.norm, lm.tokens.weight)
    sure, best = logits[:, 0, :-1].softmax(-1).max(-1)  # (L, T - 1) each
    words = [lm.words[i] for i in ids[0]]
    return with_caption(
        lens([[lm.words[i] for i in line] for line in best.tolist()], sure, words[:-1], words[1:]),
        "The word that each layer predicts next; the darker a cell, the higher its probability.",
    )


@with_choices(
    layer=(0, 2, 1),
    head=(0, 3, 1),
    start={"layer": 1, "head": 1},
    strip=[{"layer": 0, "head": 2}, {"layer": 2, "head": 0}],
)
def two_heads(lm: SmallLM, text: str, *, layer: int, head: int) -> Figure:
    """The maps of a head of the model on a text, and of the next head."""
    ids = lm.encode(text)[None]
    with torch.no_grad():
        weights = lm.run(ids).weights[layer, 0]
    chosen = [head, (head + 1) % lm.n_heads]
    return attention_maps(weights[chosen], [lm.words[i] for i in ids[0]], [f"layer {layer}, head {h}" for h in chosen])


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
            write(ax, position, layer, token, color=ink, fontsize=size, fontweight=heavy)
    ax.set_xlabel("above: the token read; in a cell: the token predicted next, bold if it is right")
    hits = [sum(a == b for a, b in zip(tokens, right, strict=True)) for tokens in said]
    details = ", ".join(f"{name} {hit} of {len(right)}" for name, hit in zip(names, hits, strict=True))
    return with_alt_text(
        figure, f"A map with a row for each layer and a column for each token. Next tokens right: {details}."
    )


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


def without_each_head(losses: Sequence[float]) -> Figure:
    """The loss of repeated letters without each of the eight heads of two layers."""
    names = [f"head {head}" for head in range(4)]
    panels = {f"layer {layer}": torch.tensor(losses[4 * layer : 4 * layer + 4]) for layer in range(2)}
    figure, axes = charts(panels, names, width=4.4, height=3.0, limit=4)
    axes[0].set_ylabel("loss of repeated letters")
    details = ", ".join(f"layer {i // 4}, head {i % 4}: {loss:.2f}" for i, loss in enumerate(losses))
    return with_alt_text(
        figure,
        f"Two panels of bars, one per layer: the loss of repeated letters without each head. {details}.",
        "Each bar: the loss of repeated letters with one head at zero.",
    )


def wanted_letters(scores: torch.Tensor, letters: Sequence[str]) -> Figure:
    """The scores (26, 26) of queries with keys whose stream has what a head of layer 0 wrote."""
    return with_alt_text(
        heat_map(scores, rows=letters, columns=letters, part="scores", numbers=False, size=(6.2, 5.6)),
        f"A map of 26 by 26 letters with a dark diagonal, scores: {scores.diagonal().mean():.1f} on the diagonal, "
        f"{scores.mean():.1f} on average.",
        "Layer 1, head 0: the score of a query with the letter of the row, at a position after the letter of the "
        "column.",
    )


def copied_letters(circuits: Sequence[torch.Tensor], letters: Sequence[str]) -> Figure:
    """By how much each of the four heads of layer 1 raises the logit of each letter, of their OV circuits (26, 26)."""
    own = torch.stack([circuit.diagonal() for circuit in circuits])  # (4, 26)
    total = own.sum(0, keepdim=True)
    names = [*(f"head {head}" for head in range(4)), "together"]
    cells = torch.cat([own, total])
    return with_alt_text(
        heat_map(cells, rows=names, columns=letters, part="scores", numbers=False, size=(9.0, 2.4)),
        "A map with a row for each head of layer 1 and one for all, and a column for each letter: by how much the "
        "logit of a letter rises when the head looks at it. Each head raises some letters more than others. Together: "
        f"from {total.min():.1f} to {total.max():.1f}.",
        "Layer 1: by how much each head raises the logit of the letter that it looks at.",
    )


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
        "Each cell: the share of the difference that one patch brings back, as a mean over 64 texts.",
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
