"""Figures of lesson 03: table look-up, attention step by step, outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from .base import row, with_alt_text
from .panels import frame, heat_map
from .shapes import arrow, write
from .style import FAINT, GREY, LINES, MARKERS, PALE, PALETTE, SMALL, colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def lookup(token_ids: torch.Tensor, table: torch.Tensor, vectors: torch.Tensor, words: Sequence[str]) -> Figure:
    """The table (N, D), the rows that `token_ids` (T,) select, and lines between them.

    `vectors` (T, D) is the result of the look-up; `words` names the N rows.
    """
    from matplotlib.patches import ConnectionPatch

    ids = token_ids.tolist()
    limit = float(table.detach().abs().max())
    figure, (left, right) = row(2, width=3.6, height=0.9 + 0.42 * max(len(table), len(ids)))
    names = [f"{i}  {word}" for i, word in enumerate(words)]
    heat_map(table, ax=left, rows=names, kind="scores", limit=limit, title="the table: one row per token")
    names = [f"{words[i]}  {i}" for i in ids]
    heat_map(vectors, ax=right, rows=names, kind="scores", limit=limit, title="the sentence, looked up")
    left.set_anchor("W")
    right.set_anchor("E")
    for place, i in enumerate(ids):
        arrow = ConnectionPatch(
            (table.shape[1] - 0.45, i),
            (-2.05, place),
            "data",
            "data",
            axesA=left,
            axesB=right,
            arrowstyle="-|>",
            color=PALETTE[place % 6],
            linestyle=LINES[place % len(LINES)],
            linewidth=1.3,
        )
        arrow.set_annotation_clip(False)  # its ends are outside the panels
        figure.add_artist(arrow)
    return figure


def step(
    number: int,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    weights: torch.Tensor,
    output: torch.Tensor,
    words: Sequence[str],
    asking: str,
    names: tuple[Sequence[str], Sequence[str]],
) -> Figure:
    """One of the four steps of one query's attention, with alt text.

    Every step has one row per word, at the same height. `query` (Dk,), `key` (S, Dk), `value` (S, Dv), `weights` (S,),
    `output` (Dv,); `words` names the S rows, `asking` the query's word, `names` the columns of keys and of values.
    """
    figure, (ax,) = row(1, width=3.4, height=4.3)
    scores = key @ query
    best = words[int(weights.argmax())]
    if number == 1:
        _with_extra_row(ax, key, query, words, f"{asking} asks", names[0], ("q", "k"))
        ax.set_title(f"1  what “{asking}” asks for,\nand what each key offers", pad=8)
        details = f"The query of {asking}, {_listed(query, names[0])}, above all {len(words)} keys."
    elif number == 2:
        _sideways_bars(ax, scores, words, "scores")
        ax.set_title("2  scores: dot products of\nthe query with every key", pad=8)
        details = f"The scores of {asking} with the {len(words)} words as bars; the highest belongs to {best}."
    elif number == 3:
        _sideways_bars(ax, weights, words, "weights", limits=(0, 1.18))
        ax.set_title("3  weights: the softmax\nof the scores", pad=8)
        details = f"The weights as bars: {asking} gives {best} the most, {weights.max():.2f}."
    elif number == 4:
        parts = weights[:, None] * value
        _with_extra_row(ax, parts, output, words, "their sum", names[1], ("v", "output"))
        ax.set_title("4  every value times its weight,\nand the sum: the output", pad=8)
        details = f"Every value times its weight, and their sum: {_listed(output, names[1])}."
    else:
        raise ValueError(f"number is {number}; the steps are 1 to 4")
    return with_alt_text(figure, details)


def moves(
    points: dict[str, torch.Tensor],
    start: torch.Tensor,
    ends: dict[str, torch.Tensor],
    axes: tuple[str, str],
    *,
    ax: Axes | None = None,
    title: str = "",
) -> Axes:
    """Named points (2,) as circles, and an arrow from `start` (2,) to each of `ends` (2,).

    `axes` names the horizontal and the vertical axis.
    """
    ax = ax or row(1, width=5.0, height=3.8)[1][0]
    for name, point in points.items():
        x, y = point.detach().tolist()
        ax.plot(x, y, "o", color="white", markeredgecolor=colour("v"), markeredgewidth=1.8, markersize=8, zorder=2)
        ax.annotate(name, (x, y), (0, 8), textcoords="offset points", ha="center", fontsize=SMALL)
    for i, (name, end) in enumerate(ends.items()):
        (x, y), (to_x, to_y) = torch.stack([start, end]).detach().tolist()
        arrow(ax, (x, y), (to_x, to_y), colour=colour("output"), width=2, line=LINES[i % len(LINES)], gap=2, zorder=3)
        ax.plot(
            to_x,
            to_y,
            color=colour("output"),
            marker=MARKERS[1:][i % 6],
            linestyle="none",
            markersize=9,
            label=name,
            zorder=4,
        )
    ax.axhline(0, color=FAINT, linewidth=0.8, zorder=0)
    ax.axvline(0, color=FAINT, linewidth=0.8, zorder=0)
    ax.margins(0.18)
    ax.set(xlabel=axes[0], ylabel=axes[1], title=title)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), frameon=False, fontsize=SMALL)
    return ax


def who_looks_at_whom(
    weights: torch.Tensor, asking: Sequence[str], answering: Sequence[str], title: str = ""
) -> Figure:
    """Weights (T, S) as lines of that width from queries to keys, and as a heat map."""
    count_t, count_s = weights.shape
    figure, (lines, cells) = row(2, width=3.9, height=max(2.6, 0.6 + 0.48 * max(count_t, count_s)))
    span = max(count_t, count_s) - 1 or 1
    left = [span - (t + 0.5) * (span + 1) / count_t + 0.5 for t in range(count_t)]
    right = [span - (s + 0.5) * (span + 1) / count_s + 0.5 for s in range(count_s)]
    for t, line in enumerate(weights.detach().tolist()):
        for s, weight in enumerate(line):
            if weight >= 0.02:  # thinner lines would be invisible
                lines.plot(
                    (0.02, 0.98),
                    (left[t], right[s]),
                    color=colour("weights"),
                    linewidth=9 * weight,
                    alpha=0.8,
                    solid_capstyle="butt",
                )
    for places, names, x, side in ((left, asking, 0.0, "right"), (right, answering, 1.0, "left")):
        for y, name in zip(places, names, strict=True):
            lines.text(x, y, name, ha=side, va="center", fontsize=10)
    lines.text(0.0, span + 0.9, "queries", ha="right", va="center", fontsize=SMALL, style="italic")
    lines.text(1.0, span + 0.9, "keys", ha="left", va="center", fontsize=SMALL, style="italic")
    lines.set(xlim=(-0.45, 1.45), ylim=(-0.6, span + 1.2))
    lines.axis("off")
    heat_map(weights, ax=cells, part="weights", rows=asking, columns=answering)
    if title:
        figure.suptitle(title, fontsize=10.5)
    return figure


def in_the_plane(
    ax: Axes,
    values: torch.Tensor,
    outputs: dict[str, torch.Tensor],
    names: Sequence[str] | None = None,
    title: str = "",
) -> Axes:
    """Values (S, 2) as circles, joined in order; outputs (2,) or (n, 2) as markers.

    An output with several rows is drawn as a path.
    """
    points = values.detach().tolist()
    around = [*points, points[0]]
    ax.fill(*zip(*around, strict=True), color=PALE, zorder=0)
    ax.plot(*zip(*around, strict=True), color=FAINT, linewidth=1, linestyle=(0, (2, 2)), zorder=1)
    centre = values.detach().mean(0)
    for i, point in enumerate(values.detach()):
        away = point - centre
        x, y = (point + 0.42 * away / away.norm().clamp_min(1e-6)).tolist()
        ax.plot(
            *point.tolist(),
            "o",
            color="white",
            markeredgecolor=colour("v"),
            markeredgewidth=1.8,
            markersize=9,
            zorder=2,
        )
        write(ax, x, y, names[i] if names else f"v{i}", fontsize=10)
    for i, (name, output) in enumerate(outputs.items()):
        path = output.detach().reshape(-1, 2)
        ax.plot(
            *path.T.numpy(),
            color=colour("output"),
            marker=MARKERS[1:][i % 6],
            linestyle=LINES[i % len(LINES)],
            markersize=11 - 2 * i if len(path) == 1 else 5,
            linewidth=1.6,
            label=name,
            zorder=4 + i,
        )
    ax.margins(0.28)
    ax.set_aspect("equal")
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[["left", "bottom"]].set_visible(False)
    ax.set_title(title)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0.02), frameon=False, fontsize=SMALL)
    return ax


def _listed(numbers: torch.Tensor, names: Sequence[str]) -> str:
    return ", ".join(f"{number:.2f} {name}" for number, name in zip(numbers.tolist(), names, strict=True))


def _with_extra_row(
    ax: Axes,
    cells: torch.Tensor,
    extra: torch.Tensor,
    words: Sequence[str],
    label: str,
    columns: Sequence[str],
    parts: tuple[str, str],
) -> None:
    """Draw a map with a row per word, and the query above or the sum below.

    `parts` names the upper and the lower map's part.
    """
    above = parts[0] == "q"
    gap = torch.full_like(cells[:1], torch.nan)
    rows = [extra[None], gap, cells] if above else [cells, gap, extra[None]]
    names = [label, "", *words] if above else [*words, "", label]
    limit = float(torch.cat([cells, extra[None]]).abs().max())
    heat_map(torch.cat(rows), ax=ax, rows=names, columns=columns, kind="scores", limit=limit, numbers=True)
    ax.set_aspect(0.55)  # wide cells, for their numbers
    for text in ax.texts:
        text.set_fontsize(9)
    place = 1 if above else len(words)
    frame(ax, parts[0], (-0.5, -0.5, cells.shape[1], place))
    frame(ax, parts[1], (-0.5, place + 0.5, cells.shape[1], len(names) - place - 1))
    ax.axhspan(place - 0.46, place + 0.46, color="white", zorder=4)  # covers the row of NaN


def _sideways_bars(
    ax: Axes, values: torch.Tensor, words: Sequence[str], part: str, limits: tuple[float, float] | None = None
) -> None:
    places = range(len(words))
    drawn = ax.barh(places, values.tolist(), color=colour(part), height=0.62)
    ax.bar_label(drawn, [f"{v:.2f}".replace("-", "−") for v in values.tolist()], padding=3, fontsize=SMALL)
    ax.set_yticks(places, list(words))
    ax.invert_yaxis()
    ax.axvline(0, color=GREY, linewidth=0.8)
    ax.tick_params(left=False)
    ax.spines[["left", "bottom"]].set_visible(False)
    ax.set_xticks([])
    if limits:
        ax.set_xlim(*limits)
    else:
        ax.margins(x=0.22)
