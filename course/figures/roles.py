"""Figures of what queries, keys and values do: a soft look-up, and several heads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import torch

from .base import plain, row, with_alt_text
from .panels import frame, small_map
from .shapes import arrow, write
from .style import BLACK, GREY, GROUND, INK, SMALL, colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def soft_lookup(
    panels: Mapping[str, torch.Tensor], query: str, keys: Sequence[str], values: torch.Tensor | Sequence[float]
) -> Figure:
    """A look-up that becomes soft: one panel per title, from one key to a mixture.

    panels  title -> weights (S,), e.g. {"dictionary": …, "sharp": …, "soft": …}; a dictionary has one weight of 1
    query   what is looked up
    keys    the S keys' names
    values  (S,), one number per key

    In each panel, a line from the query to each key is as wide as the weight, which is beside the key's value; below is
    the sum of weight times value. With alt text.
    """
    numbers = plain(values)
    figure, axes = row(len(panels), width=3.2, height=1.15 + 0.44 * len(keys))
    details = []
    for ax, (title, given) in zip(axes, panels.items(), strict=True):
        weights = plain(given)
        result = float(weights @ numbers)
        _lookup(ax, weights, query, keys, numbers, result)
        ax.set_title(title, pad=6)
        shares = ", ".join(f"{key} {weight:.2f}" for key, weight in zip(keys, weights.tolist(), strict=True))
        details.append(f"{title}: {shares}; output {result:.2f}")
    return with_alt_text(
        figure,
        f"The query {query} beside {len(keys)} keys and their values, in {len(panels)} panels. {'. '.join(details)}.",
    )


def heads(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    weights: torch.Tensor,
    output: torch.Tensor,
    words: Sequence[str] = (),
) -> Figure:
    """Multi-head attention: one row per head, and the joined outputs, with alt text.

    q, k     (H, T, K): each head's columns of the queries and keys
    v        (H, T, V)
    weights  (H, T, T)
    output   (H, T, V): each head's weights times its values
    words    the T tokens
    """
    count, tokens = weights.shape[:2]
    parts = {"q": plain(q), "k": plain(k), "v": plain(v), "weights": plain(weights), "output": plain(output)}
    limit = max(float(part.abs().max()) for name, part in parts.items() if name != "weights")
    joined = parts["output"].transpose(0, 1).flatten(1)  # (T, H * V)
    cell, gap = 1.0, 1.8
    apart = tokens + 2.4  # from one head to the next
    lefts, across = {}, 4.6 if words else 1.2
    for name, part in parts.items():
        lefts[name] = across
        across += part.shape[-1] * cell + gap + (1.6 if name in ("v", "weights") else 0)
    across += 1.2
    tall = count * apart
    figure, (ax,) = row(1, width=9.6, height=9.4 * (tall + 2.6) / (across + joined.shape[1] + 1.4))
    for h in range(count):
        top = -h * apart
        ax.text(lefts["q"], top + 0.35, f"head {h}", ha="left", va="bottom", fontsize=SMALL, fontweight="bold")
        for name, part in parts.items():
            _map(ax, part[h], lefts[name], top, name, limit)
        for t, word in enumerate(words):
            ax.text(lefts["q"] - 0.3, top - t - 0.5, word, ha="right", va="center", fontsize=7.5)
        for name, after in (("v", "weights"), ("weights", "output")):
            y = top - tokens / 2
            arrow(ax, (lefts[name] + parts[name].shape[-1] + 0.4, y), (lefts[after] - 0.4, y))
        end = -(tall - 2.4 - tokens) / 2 - tokens / 2
        start = lefts["output"] + parts["output"].shape[-1] + 0.4
        arrow(ax, (start, top - tokens / 2), (across - 0.4, end))
    top = -(tall - 2.4 - tokens) / 2
    _map(ax, joined, across, top, "output", limit)
    for h in range(1, count):
        ax.plot([across + h * parts["output"].shape[-1]] * 2, [top, top - tokens], color=BLACK, linewidth=1.6, zorder=4)
    ax.text(
        across + joined.shape[1] / 2,
        top - tokens - 0.3,
        f"joined\n{tuple(joined.shape)}",
        ha="center",
        va="top",
        fontsize=SMALL,
    )
    for name, text in (("q", "Q"), ("k", "K"), ("v", "V"), ("weights", "A"), ("output", "O = A V")):
        middle = lefts[name] + parts[name].shape[-1] / 2
        ax.text(middle, 1.9, text, ha="center", va="bottom", fontsize=11, fontweight="bold")
    ax.set(xlim=(0, across + joined.shape[1] + 0.6), ylim=(-tall + 1.6, 3.2), aspect="equal")
    ax.axis("off")
    seen = "; ".join(f"head {h}: {_most(part, words)}" for h, part in enumerate(parts["weights"]))
    return with_alt_text(
        figure,
        f"Multi-head attention with {count} heads, one below the other: Q, K and V of {_size(parts['q'][0])} give "
        f"weights A, and A times V gives O. The outputs, side by side, are {_size(joined)}. Largest weights: {seen}.",
    )


def _size(matrix: torch.Tensor) -> str:
    return " by ".join(map(str, matrix.shape))


def _most(weights: torch.Tensor, words: Sequence[str]) -> str:
    rows, columns = divmod(int(weights.argmax()), weights.shape[1])
    names = list(words) or [f"position {t}" for t in range(len(weights))]
    return f"{weights.max():.2f} from {names[rows]} to {names[columns]}"


def _map(ax: Axes, values: torch.Tensor, left: float, top: float, part: str, limit: float) -> None:
    rows, columns = values.shape
    small_map(ax, values, (left, top, columns, rows), weights=part == "weights", limit=limit)
    frame(ax, part, (left, top - rows, columns, rows))


def _lookup(
    ax: Axes, weights: torch.Tensor, query: str, keys: Sequence[str], values: torch.Tensor, result: float
) -> None:
    middle = (len(keys) - 1) / 2
    for place, (key, weight, value) in enumerate(zip(keys, weights.tolist(), values.tolist(), strict=True)):
        if weight >= 0.005:
            ax.plot((0.34, 1.2), (middle, place), color=colour("weights"), linewidth=0.6 + 7 * weight, zorder=1)
        _plate(ax, 1.6, place, key, "k")
        shade = INK if weight >= 0.005 else GREY
        write(ax, 2.38, place, f"{weight:.2f} ×", fontsize=SMALL, color=shade)
        _plate(ax, 2.95, place, f"{value:g}".replace("-", "−"), "v")
    _plate(ax, 0.0, middle, query, "q")
    write(ax, 2.38, len(keys) + 0.05, "sum:", fontsize=SMALL)
    _plate(ax, 2.95, len(keys) + 0.05, f"{result:.2f}".replace("-", "−"), "output")
    for x, name in ((0.0, "query"), (1.6, "keys"), (2.95, "values")):
        write(ax, x, -0.75, name, fontsize=SMALL, style="italic")
    ax.set(xlim=(-0.5, 3.35), ylim=(len(keys) + 0.55, -1.05))
    ax.axis("off")


def _plate(ax: Axes, x: float, y: float, text: str, part: str) -> None:
    box = {"boxstyle": "round,pad=0.3", "facecolor": GROUND, "edgecolor": colour(part), "linewidth": 2}
    write(ax, x, y, text, fontsize=SMALL, color=INK, bbox=box, zorder=3)
