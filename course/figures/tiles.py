"""Figures of lesson 10: tiled attention's running state, and scores in memory.

All have alt text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch

from .base import row, with_alt_text, with_caption, with_choices
from .diagram import overview
from .lines import curves
from .shapes import write
from .style import FAINT, GREY, INK, PALE, PALETTE, SMALL, colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..models.small_lm import SmallLM


@with_choices(keys_read=(1, 8, 1), start={"keys_read": 2}, strip=[{"keys_read": n} for n in (2, 4, 5, 8)])
def after_keys(read_key: Callable[..., Any], scores: torch.Tensor, values: torch.Tensor, *, keys_read: int) -> Figure:
    """What is kept of scores and values (S,) after so many keys.

    read_key  (maximum, sum, weighted sum, score, value) -> the next three
    """
    kept = torch.full((), -torch.inf), torch.zeros(()), torch.zeros(1)  # maximum, sum, weighted sum
    history = []
    for score, number in zip(scores[:keys_read], values[:keys_read], strict=True):
        kept = read_key(*kept, score, number[None])
        history.append((kept[0], kept[1], (kept[2] / kept[1])[0]))
    return running(scores, values, history)


def largest_tensors(lengths: Sequence[int], megabytes: Mapping[str, Sequence[float]]) -> Figure:
    """The largest tensor, all at once and in tiles, against the length of the text."""
    ax = curves(lengths, megabytes, log="both", xlabel="T = S", ylabel="largest tensor, MB")
    ax.set_xticks(lengths, [str(T) for T in lengths])
    ax.set_xticks([], minor=True)
    whole, tiles = megabytes.values()
    return with_alt_text(
        ax,
        f"Two straight lines over the length of the text from {lengths[0]} to {lengths[-1]}, both axes logarithmic. "
        f"All at once climbs from {whole[0]:.2f} to {whole[-1]:.0f} megabytes, twice as steeply as the tiles, which go "
        f"from {tiles[0]:.2f} to {tiles[-1]:.2f}.",
        "Both axes are logarithmic, so T² is a line twice as steep as T.",
    )


def causal_blocks(kind_of: Callable[..., str]) -> Figure:
    """The `kinds` of 8 by 8 blocks of causal attention, by `kind_of(first query, last query, first key, last key)`."""
    starts = range(0, 64, 8)
    return with_caption(
        kinds([[kind_of(i, i + 7, j, j + 7) for j in starts] for i in starts], tile=8),
        "Filled: open. Grey: mixed, so it needs a mask. Hatched: blocked.",
    )


def so_far(lm: SmallLM, causal: Callable[..., Any]) -> Figure:
    """The diagram up to lesson 10, with a head of the model, whose output is `causal(q, k, v, tile=2)[0]`."""
    seen = lm.look("The boat reached the river bank", layer=1)
    later = torch.ones(6, 6, dtype=torch.bool).triu(1)
    values = {"q": seen.q[:, :8], "k": seen.k[:, :8], "v": seen.v[:, :8]}
    values |= {"scores": seen.scores.masked_fill(later, -torch.inf)}
    values |= {"weights": seen.weights.masked_fill(later, -torch.inf)}  # the diagram hatches -inf
    output = causal(seen.q, seen.k, seen.v, tile=2)[0][:, :8]
    return with_caption(
        overview("tiles", complete=True, **values, output=output),
        "A head of the model reads “The boat reached the river bank”. The output is computed in blocks of 2 by 2; Q, "
        "K, V and O show the first 8 of 24 numbers.",
    )


def running(
    scores: torch.Tensor, values: torch.Tensor, history: Sequence[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]
) -> Figure:
    """Scores (S,) of one query as bars, filled once read, and the running state.

    `values` is (S,); `history` has the maximum, the sum and the output after each key that was read.
    """
    read = len(history)
    figure, (left, right) = row(2, width=4.0, height=3.0, ratios=(3, 2))
    _bars(left, scores, read)
    highest, total, output = (float(number) for number in history[-1])
    left.axhline(highest, color=PALETTE[1], linewidth=1.3, linestyle="--")
    left.annotate(
        f"maximum {highest:.1f}", (0.5, highest), (2, 3), textcoords="offset points", fontsize=SMALL, color=INK
    )
    exact = float(torch.softmax(scores[:read], dim=0) @ values[:read])
    kept = {"maximum m": highest, "sum of exp(s − m)": total, "output": output, "m + log(sum)": highest + _log(total)}
    right.set_axis_off()
    right.set_title(f"kept after {read} of {len(scores)} keys")
    for line, (name, number) in enumerate(kept.items()):
        height = 0.85 - 0.16 * line
        right.text(0.02, height, name, transform=right.transAxes)
        right.text(0.98, height, f"{number:.3f}", transform=right.transAxes, ha="right", family="monospace")
    height = 0.85 - 0.16 * len(kept)
    right.text(0.02, height, "all of them at once:", transform=right.transAxes, color=GREY)
    right.text(0.98, height, f"{exact:.3f}", transform=right.transAxes, ha="right", family="monospace", color=GREY)
    details = ", ".join(f"{name} {number:.3f}" for name, number in kept.items())
    return with_alt_text(
        figure,
        f"Bars for the scores of {len(scores)} keys, the first {read} of them filled. Kept after these: {details}. "
        f"Softmax over the {read} scores at once gives the output {exact:.3f}.",
    )


def _bars(ax: Axes, scores: torch.Tensor, read: int) -> None:
    """Draw a bar per score: pale if read, full and hatched for the last one read, else empty."""
    for place, score in enumerate(scores.tolist()):
        shade, hatch = colour("scores") if place < read else PALE, "///" if place == read - 1 else ""
        shade_of = (shade, 0.55 if place < read - 1 else 1.0)
        ax.bar(place, score, color=shade_of, edgecolor=GREY, hatch=hatch, width=0.8)
    low, high = float(scores.min()), float(scores.max())
    ax.axhline(0.0, color=GREY, linewidth=0.8)
    ax.set(xlabel="key", ylabel="score", xticks=range(len(scores)), ylim=(low - 0.5, high + 0.9))


def _log(number: float) -> float:
    return float(torch.tensor(number, dtype=torch.float64).log())


def alive(*, T: int, S: int, tile: int, at: int) -> Figure:
    """T x S scores in tiles of `tile` keys: done before tile `at`, current, to come."""
    figure, (ax,) = row(1, width=7.6, height=2.6)
    starts = range(0, S, tile)
    for number, start in enumerate(starts):
        width = min(tile, S - start)
        done, now = number < at, number == at
        words = "done: is in the output\nand the log-sum-exp" if done else "there now" if now else "not made yet"
        ax.bar(
            start + width / 2,
            T,
            width=width,
            color=colour("scores") if now else PALE if done else "white",
            edgecolor=INK if now else FAINT,
            hatch="" if now else "||" if done else "",
            linewidth=1.8 if now else 0.8,
        )
        ground = {"facecolor": "white", "edgecolor": "none", "pad": 2}
        write(ax, start + width / 2, T / 2, words, fontsize=SMALL, bbox=ground)
    ax.set(xlim=(-0.1, S + 0.1), ylim=(T + 0.1, -0.1), xlabel="keys", ylabel="queries")
    ax.set(xticks=[*starts, S], yticks=[0, T])
    return with_alt_text(
        figure,
        f"A map of {T} queries by {S} keys, cut into {len(starts)} tiles of {tile} keys. The first {at} are done, and "
        f"of them an output and a log-sum-exp are left. Tile {at}, counted from 0, is there now, the others are not "
        "made yet.",
        f"{T} queries and {S} keys, in tiles of {tile}. Only the scores of the filled tile are in memory. The tiles on "
        "its left have been merged into one output and one log-sum-exp per query; those on its right are read later.",
    )


def kinds(rows: Sequence[Sequence[str]], *, tile: int) -> Figure:
    """A map of tiles of `tile` queries by `tile` keys, each "open", "mixed" or "blocked"."""
    down, across = len(rows), max(map(len, rows))
    figure, (ax,) = row(1, width=4.6, height=4.2)
    for i, kinds_of_row in enumerate(rows):
        for j, kind in enumerate(kinds_of_row):
            look = {"open": (colour("scores"), "", ""), "mixed": (PALE, "", "mask")}.get(kind, ("white", "///", ""))
            fill, hatch, word = look
            ax.bar(
                (j + 0.5) * tile, tile, bottom=i * tile, width=tile, color=fill, edgecolor=FAINT, hatch=hatch,
                linewidth=0.8,
            )  # fmt: skip
            write(ax, (j + 0.5) * tile, (i + 0.5) * tile, word, fontsize=SMALL, color=INK)
    ends = (across * tile, down * tile)
    ax.set(xlim=(0, ends[0]), ylim=(ends[1], 0), xlabel="keys", ylabel="queries", aspect="equal")
    ax.set(xticks=range(0, ends[0] + 1, tile), yticks=range(0, ends[1] + 1, tile))
    lines = "; ".join(f"row {i}: {', '.join(kinds_of_row)}" for i, kinds_of_row in enumerate(rows))
    return with_alt_text(
        figure,
        f"A map of {down} by {across} blocks, each {tile} queries by {tile} keys. Open blocks are filled, mixed ones "
        f"are pale, with the word mask, and blocked ones hatched. {lines}.",
    )
