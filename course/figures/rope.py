"""Figures of lesson 07: sinusoids, rotated vectors, clocks, scores by position, layouts.

All have alt text. Angles are counter-clockwise from the axis that points to the right.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import atan2, cos, degrees, hypot, log, pi, sin
from typing import TYPE_CHECKING, Any

import torch

from .base import grid, row, with_alt_text, with_caption, with_choices
from .diagram import overview
from .lines import curves, losses
from .panels import heat_map
from .shapes import arrow, cell, write
from .style import FAINT, GREY, INK, LIGHT, LINES, PALETTE, SMALL, colour, ink_on

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Function = Callable[..., torch.Tensor]


def six_positions(turn: Function) -> Figure:
    """One vector at the positions 0 to 5, by `turn(vector, angle)`."""
    return with_caption(
        turned(torch.stack([turn(torch.tensor([2.0, 0.5]), position) for position in range(6)]), range(6)),
        "One vector at positions 0 to 5. Each step turns it by one radian, 57 degrees; its length stays the same.",
    )


@with_choices(
    query_at=(0, 12, 1),
    key_at=(0, 12, 1),
    start={"query_at": 2, "key_at": 1},
    strip=[{"query_at": m, "key_at": n} for m, n in ((2, 1), (5, 4), (12, 11), (3, 1))],
)
def two_positions(turn: Function, *, query_at: int, key_at: int) -> Figure:
    """A query and a key, each turned by its position, by `turn(vector, angle)`."""
    query, key = torch.tensor([1.5, 0.4]), torch.tensor([1.0, 0.9])
    return pair(turn(query, query_at), turn(key, key_at), (query_at, key_at))


def sinusoids() -> Figure:
    """The sinusoids of 48 positions, and what they do to the score of two words that are three positions apart."""
    waves = _sinusoids(48, 16)
    generator = torch.Generator().manual_seed(0)
    bank, boat = torch.randn(2, 16, generator=generator)
    W_q, W_k = torch.randn(2, 16, 16, generator=generator) / 4
    scores = ((bank + waves) @ W_q * ((boat + waves.roll(3, 0)) @ W_k)).sum(-1)[3:] / 4
    figure, axes = row(2, width=4.6, height=3.4, ratios=(1.2, 1))
    heat_map(waves.T, ax=axes[0], kind="scores", limit=1.0, title="sinusoids, $D$ = 16")
    axes[0].set(xlabel="position", ylabel="entry", aspect="auto", xticks=range(0, 48, 8), yticks=range(0, 16, 4))
    axes[0].set_xticklabels([str(t) for t in range(0, 48, 8)])
    axes[0].set_yticklabels([str(i) for i in range(0, 16, 4)])
    title = "the same two words, gap 3"
    curves(range(3, 48), {"score": scores}, ax=axes[1], names="none", xlabel="position of the query", title=title)
    axes[1].set_ylabel("score")
    low, high = scores.aminmax()
    return with_alt_text(
        figure,
        "Left, a map of 16 entries at 48 positions: the waves in the upper rows, the first entries, are fast, those in "
        "the lower rows hardly change. Right, the score of one word with another, three positions before it: it "
        f"goes up and down between {low:.1f} and {high:.1f} as both move.",
        "Right: random words and matrices.",
    )


def turned(vectors: torch.Tensor, positions: Sequence[float]) -> Figure:
    """A vector at several positions: `vectors` (T, 2) as arrows with position labels."""
    reach = 1.35 * float(vectors.norm(dim=-1).max())
    figure, (ax,) = row(1, width=4.6, height=4.4)
    _plane(ax, reach)
    _circle(ax, float(vectors[0].norm()))
    for i, (vector, position) in enumerate(zip(vectors.tolist(), positions, strict=True)):
        arrow(ax, (0, 0), vector, colour=PALETTE[0 if i else 1], width=2, line=LINES[0 if i else 1])
        write(ax, *_beyond(vector, 0.13 * reach), f"{position:g}", fontweight="bold")
    details = ", ".join(
        f"{position:g}: {_angle(v):.0f}°" for position, v in zip(positions, vectors.tolist(), strict=True)
    )
    return with_alt_text(
        figure,
        f"{len(vectors)} arrows of one length from one point, numbered by position, spread counter-clockwise over a "
        f"circle. Their directions: {details}.",
    )


def pair(query: torch.Tensor, key: torch.Tensor, at: tuple[float, float]) -> Figure:
    """A rotated query (2,) and key (2,) at the positions `at`, their angle and score."""
    score = float(query @ key)
    reach = 1.7 * max(float(query.norm()), float(key.norm()))
    figure, (ax,) = row(1, width=3.5, height=3.9)
    _plane(ax, reach)
    looks = {"query": (query, at[0], colour("q"), LINES[0]), "key": (key, at[1], colour("k"), LINES[1])}
    for name, (vector, position, shade, line) in looks.items():
        arrow(ax, (0, 0), vector.tolist(), colour=shade, width=2, line=line)
        place = _beyond(vector.tolist(), 0.2 * reach)
        write(ax, *place, f"{name}\nat {position:g}", fontsize=SMALL)
    first, second = (atan2(v[1], v[0]) for v in (query.tolist(), key.tolist()))
    between = (second - first + pi) % (2 * pi) - pi
    steps = [first + between * s / 24 for s in range(25)]
    radius = 0.3 * reach
    ax.plot([radius * cos(a) for a in steps], [radius * sin(a) for a in steps], color=INK, linewidth=1.2)
    ax.set_title(f"gap {at[0] - at[1]:g}: score {score:.2f}".replace("-", "−"))
    return with_alt_text(
        figure,
        f"Two arrows: the query, at position {at[0]:g}, points to {_angle(query.tolist()):.0f}°, the key, at position "
        f"{at[1]:g}, to {_angle(key.tolist()):.0f}°. The angle from one to the other is {degrees(between):.0f}°, the "
        f"score {score:.2f}.",
    )


def clocks(frequencies: torch.Tensor, positions: Sequence[int]) -> Figure:
    """A row of clocks per position, one for each of `frequencies` (radians/position)."""
    speeds = [float(f) for f in frequencies]
    across = len(speeds)
    figure, faces = grid(len(positions) * across, across, width=1.25, height=1.12, beside=1.3, above=0.55)
    for line, position in enumerate(positions):
        axes = faces[line * across : (line + 1) * across]
        for i, (ax, speed) in enumerate(zip(axes, speeds, strict=True)):
            _face(ax, position * speed)
            if position == positions[0]:
                length = 2 * pi / speed
                ax.set_title(f"pair {i}\nonce in {length:,.0f}" if length >= 10 else f"pair {i}\nonce in {length:.2g}")
        axes[0].text(-1.9, 0, f"position\n{position:,}", ha="right", va="center")
    slow = sum(positions[-1] * speed < 2 * pi for speed in speeds)
    return with_alt_text(
        figure,
        f"A table of clocks: a row for each of the positions {', '.join(map(str, positions))}, a column for each of "
        f"{len(speeds)} pairs. The hand of pair 0 turns by {speeds[0]:.2g} radians a position, that of the last by "
        f"{speeds[-1]:.2g}. At position {positions[-1]}, {slow} of the hands have not yet been round once.",
        "The hands of four pairs at five positions; all start at the right. Above each column: how many positions a "
        "full turn takes.",
    )


def against_gap(rotate: Function, q: torch.Tensor, k: torch.Tensor) -> Figure:
    """The score of q (64,) with k (64,) against the gap, around three positions, by `rotate(x, positions)`."""
    gaps = torch.arange(-40, 41)
    scores = {}
    for start in (100, 1000, 9000):
        around = rotate(k.expand(len(gaps), 64), start - gaps)  # (81, 64): the key at each position around the query's
        scores[f"query at {start}"] = around @ rotate(q[None], torch.tensor([start]))[0]
    apart = float((scores["query at 100"] - scores["query at 9000"]).abs().max())
    return with_alt_text(
        curves(gaps, scores, xlabel="gap m − n", ylabel="score"),
        "Three curves of the score against the gap, from -40 to 40, for a query at 100, at 1000 and at 9000. They "
        f"coincide: they differ by {apart:.3f} at most.",
        "Three starting points, one curve.",
    )


def by_position(readings: Mapping[str, torch.Tensor], trained: int) -> Figure:
    """The loss in each stretch of 16 positions of a longer text, for each method; `readings` are (B, T).

    trained  the number of positions in training
    """
    middles = torch.arange(12) * 16 + 8.0
    means = {
        method: torch.stack([part.mean() for part in losses.split(16, dim=1)]) for method, losses in readings.items()
    }
    figure, (ax,) = row(1, width=7.2, height=3.6)
    title = "The small model reads 192 tokens"
    curves(middles, means, ax=ax, names="legend", xlabel="position", ylabel="loss (nats)", title=title)
    ax.axvline(trained, ymax=0.6, color="grey", linestyle=":", linewidth=1.2)  # ends below the legend
    at_end = ", ".join(f"{method} {values[-1]:.1f}" for method, values in means.items())
    return with_alt_text(
        figure,
        f"The loss by position for four sets of frequencies, with a dotted line at {trained}. As trained, it is low up "
        "to the line and then rises steeply. Interpolation is worse before the line and better after it. A larger base "
        f"delays the rise. By parts it stays low throughout. At the end: {at_end}.",
        "Dotted: the end of the trained length.",
    )


def maps(panels: Mapping[str, torch.Tensor], words: Mapping[str, Sequence[str]], per_row: int = 2) -> Figure:
    """Weights (T, T) for each title, labelled with the words of its own sentence."""
    length = len(next(iter(panels.values())))
    figure, axes = grid(len(panels), per_row, width=1.3 + 0.47 * length, height=1.25 + 0.4 * length)
    for ax, (title, weights) in zip(axes, panels.items(), strict=True):
        heat_map(weights, ax=ax, part="weights", title=title, rows=words[title], columns=words[title], numbers=True)
        ax.set_xlabel("keys")
    for ax in axes[::per_row]:
        ax.set_ylabel("queries")
    details = []
    for title, weights in panels.items():
        most = zip(words[title], weights.argmax(-1).tolist(), strict=True)
        details.append(f"{title}: " + ", ".join(f"{query} looks most to {words[title][key]}" for query, key in most))
    return with_alt_text(figure, f"Heat maps of weights with words beside rows and columns. {'; '.join(details)}.")


def two_orders(
    attention: Callable[..., Any], x: torch.Tensor, permutation: torch.Tensor, words: Sequence[str]
) -> Figure:
    """Weights by `attention(query, key, value)` of a sentence x (T, D), and of its words in another order."""
    orders = {"as it was": torch.arange(len(x)), "scrambled": permutation}
    panels = {
        title: (attention(x[order], x[order], x[order])[1], [words[i] for i in order.tolist()])
        for title, order in orders.items()
    }
    return with_caption(
        maps(
            {title: weights for title, (weights, _) in panels.items()},
            {title: own for title, (_, own) in panels.items()},
        ),
        "Compare the row of boat in both maps, word by word.",
    )


@torch.no_grad()
def to_be(module: Callable[..., Any]) -> Figure:
    """The weights of head 0 of `module(d_model, n_heads)` on "to be or not to be", without and with positions."""
    layer, words, x = _spoken(module)
    found = {"all positions 0": layer(x, torch.zeros(6, dtype=torch.int64)), "positions 0 … 5": layer(x)}
    apart = [f"{float((output[0, 0] - output[0, 4]).norm()):.2f}" for output, _ in found.values()]
    panels = {title: weights[0, 0] for title, (_, weights) in found.items()}
    return with_caption(
        maps(panels, dict.fromkeys(panels, words)),
        f"Head 0, random weights. The outputs of the two “to” are {apart[0]} apart on the left, {apart[1]} right.",
    )


def named(runs: Mapping[str, Any]) -> Figure:
    """The losses of the lesson's modules that learned to name the token before."""
    ax = losses({name: run.losses for name, run in runs.items()}, {"guessing, ln 7": log(7)}, every=10)
    return with_caption(ax, "Naming the token before.")


@torch.no_grad()
def so_far(module: Callable[..., Any], rotate: Function) -> Figure:
    """The diagram up to lesson 07, with head 0 of `module(d_model, n_heads)`, its vectors turned by `rotate`."""
    layer, _, x = _spoken(module)
    q, k, v = (getattr(layer, name)(x)[0, :, :8] for name in ("W_q", "W_k", "W_v"))  # (T, Dk) each
    positions = torch.arange(len(q))
    scores = rotate(q, positions) @ rotate(k, positions).mT / 8**0.5
    weights = scores.softmax(-1)
    values = {"q": q, "k": k, "v": v, "scores": scores, "weights": weights, "output": weights @ v}
    return with_caption(overview("rotation", complete=True, **values), "Head 0 on “to be or not to be”.")


def layouts(dim: int) -> Figure:
    """A vector's entries in both layouts, labelled by pair, with lines between them."""
    figure, (ax,) = row(1, width=0.85 * dim + 1.9, height=2.6)
    order = [*range(0, dim, 2), *range(1, dim, 2)]
    for below, numbers in ((1.6, range(dim)), (0.0, order)):
        for place, number in enumerate(numbers):
            _entry(ax, place, below, number)
    for place, number in enumerate(order):
        ax.plot((number, place), (1.2, 0.4), color=PALETTE[number // 2 % len(PALETTE)], linestyle=LINES[number % 2])
    for below, name in ((1.6, "neighbours"), (0.0, "halves")):
        ax.text(-0.7, below, name, ha="right", va="center")
    ax.set(xlim=(-2.3, dim - 0.4), ylim=(-0.5, 2.1))
    ax.axis("off")
    listed = ", ".join(f"x{n}" for n in order)
    return with_alt_text(
        figure,
        f"Two rows of {dim} boxes. Above, x0 to x{dim - 1} in order, where boxes 0 and 1 make pair 0, boxes 2 and 3 "
        f"pair 1, and so on. Below, the same boxes in the order {listed}; lines lead from each box to its new place.",
        "Each pair keeps its two numbers, their order and its frequency; only the order in memory differs.",
    )


def _sinusoids(T: int, D: int) -> torch.Tensor:
    """The vectors of 2017 for T positions, (T, D)."""
    angles = torch.arange(T)[:, None] * 10000.0 ** (-torch.arange(0, D, 2) / D)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


def _spoken(module: Callable[..., Any]) -> tuple[Any, list[str], torch.Tensor]:
    """A module of width 16 with two heads and larger queries and keys, the lesson's six words, and x (1, T, D)."""
    words = ["to", "be", "or", "not", "to", "be"]
    vocabulary = sorted(set(words))
    table = torch.randn(len(vocabulary), 16, generator=torch.Generator().manual_seed(2))
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        layer = module(16, 2)
        for part in (layer.W_q, layer.W_k):
            part.weight.mul_(2)
    return layer, words, table[[vocabulary.index(word) for word in words]][None]  # the same word, the same vector


def _plane(ax: Axes, reach: float) -> None:
    """Draw two axes through the origin, equally scaled, from -reach to reach."""
    ax.axhline(0, color=LIGHT, linewidth=0.8, zorder=0)
    ax.axvline(0, color=LIGHT, linewidth=0.8, zorder=0)
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", xlabel="first number", ylabel="second number")


def _circle(ax: Axes, radius: float, colour: str = FAINT) -> None:
    around = [2 * pi * s / 120 for s in range(121)]
    ax.plot([radius * cos(a) for a in around], [radius * sin(a) for a in around], color=colour, linewidth=0.9, zorder=0)


def _beyond(vector: Sequence[float], by: float) -> tuple[float, float]:
    """The point `by` beyond the tip of a vector."""
    length = hypot(*vector) or 1.0
    return vector[0] * (1 + by / length), vector[1] * (1 + by / length)


def _angle(vector: Sequence[float]) -> float:
    return degrees(atan2(vector[1], vector[0])) % 360


def _face(ax: Axes, angle: float) -> None:
    """Draw a clock without numbers, its hand at `angle` radians."""
    _circle(ax, 1.0, GREY)
    for quarter in range(4):
        c, s = cos(quarter * pi / 2), sin(quarter * pi / 2)
        ax.plot((0.86 * c, c), (0.86 * s, s), color=GREY, linewidth=1.0)
    ax.plot((0, 0.8 * cos(angle)), (0, 0.8 * sin(angle)), color=PALETTE[0], linewidth=2.2, solid_capstyle="round")
    ax.plot(0, 0, "o", color=PALETTE[0], markersize=3.5)
    ax.set(xlim=(-1.15, 1.15), ylim=(-1.15, 1.15), aspect="equal")
    ax.axis("off")


def _entry(ax: Axes, x: float, y: float, number: int) -> None:
    from matplotlib.colors import to_rgb

    red, green, blue = (0.5 + 0.5 * v for v in to_rgb(PALETTE[number // 2 % len(PALETTE)]))
    light = (red, green, blue, 1.0)
    cell(ax, x, y, (0.8, 0.8), facecolor=light, edgecolor=INK, linewidth=0.8)
    write(ax, x, y + 0.12, f"x{number}", color=ink_on(light), fontweight="bold")
    write(ax, x, y - 0.2, f"pair {number // 2}", color=ink_on(light), fontsize=7.5)
