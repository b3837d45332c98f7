"""Figures of lesson 01: vectors as arrows, products of entries, matrix cells."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import torch

from .base import row, with_alt_text, with_choices
from .lines import curves
from .panels import bars, heat_map, maps
from .shapes import arrow, frame, write
from .style import FAINT, GREY, HATCHES, INK, LIGHT, PALETTE, TEXT_PALETTE, WHITE, colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..models.small_lm import SmallLM

Function = Callable[..., torch.Tensor]


def arrows(a: torch.Tensor, b: torch.Tensor, *, ax: Axes, title: str = "", limit: float = 3.2) -> Axes:
    """Vectors `a` and `b`, (2,), as arrows, with the projection of `b` on `a`."""
    points = {"a": _pair(a), "b": _pair(b)}
    (ax_, ay), (bx, by) = points["a"], points["b"]
    share = (ax_ * bx + ay * by) / (ax_ * ax_ + ay * ay)
    foot = (share * ax_, share * ay)
    ax.axline((0, 0), (ax_, ay), color=FAINT, linewidth=0.8)
    ax.plot([bx, foot[0]], [by, foot[1]], color=GREY, linestyle=":", linewidth=1.5)
    ax.plot([0, foot[0]], [0, foot[1]], color=PALETTE[4], linewidth=12, solid_capstyle="butt")
    # Where the arrows overlap, the wide one still shows, and the names are on both sides
    for look, (name, width, side) in enumerate((("a", 4.0, -1), ("b", 2.0, 1))):
        x, y = points[name]
        arrow(ax, (0, 0), (x, y), colour=PALETTE[look], width=width)
        length = math.hypot(x, y) or 1.0
        write(
            ax,
            x + 0.3 * (x - side * y) / length,
            y + 0.3 * (y + side * x) / length,
            name,
            color=TEXT_PALETTE[look],
            fontsize=12,
            fontweight="bold",
        )
    ax.set(xlim=(-limit, limit), ylim=(-limit, limit), aspect="equal")
    ax.set_title(title.replace(" -", " −"))
    _bare(ax)
    return ax


def multiply_and_add(a: torch.Tensor, b: torch.Tensor, total: float) -> Figure:
    """Three rows of numbers, `a`, `b` and their products, and the sum of the products."""
    products = a * b
    figure, (ax,) = row(1, width=1.9 + 0.75 * len(a), height=1.9)
    table = torch.stack([a, b, products])
    heat_map(table, ax=ax, rows=["a", "b", "a × b"], kind="scores", numbers=True)
    ax.axhline(1.5, color=INK, linewidth=1.5)
    ax.text(
        len(a) - 0.3,
        2,
        f"add: {total:g}".replace("-", "−"),
        va="center",
        fontsize=12,
        fontweight="bold",
    )
    return figure


def votes() -> Figure:
    """A dot product of three entries, of which one votes against."""
    a, b = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([4.0, -5.0, 6.0])
    return with_alt_text(
        multiply_and_add(a, b, total=float(a @ b)),
        "Three rows of numbers. a is 1, 2, 3; b is 4, minus 5, 6; their products are 4, minus 10, 18. The sum is 12.",
        "4 − 10 + 18 = 12. The −10 at position 1 votes against; the 18 at position 2 outvotes it.",
    )


def shadows(dot: Function) -> Figure:
    """The arrow (2, 1) with three others, their projections, and their products by `dot`."""
    a = torch.tensor([2.0, 1.0])
    length = float(a.norm())
    positions = {"similar": [1.0, 2.0], "perpendicular": [-1.0, 2.0], "opposite": [-2.0, -1.5]}
    figure, axes = row(3, width=3.0, height=3.4)
    for ax, (name, position) in zip(axes, positions.items(), strict=True):
        b = torch.tensor(position)
        value = float(dot(a, b))
        arrows(a, b, ax=ax, title=f"{name}\n{length:.2f} × {value / length:.2f} = {value:g}")
    return with_alt_text(
        figure,
        "Three panels with the arrows a and b. Similar directions: the shadow of b has the direction of a, and the dot "
        "product is 4. Perpendicular: no shadow, 0. Opposite: the shadow points away from a, minus 5.5.",
        "a = (2, 1); b = (1, 2), (−1, 2), (−2, −1.5). Each title: length of a × shadow = a · b.",
    )


def around_the_circle(dot: Function) -> Figure:
    """The product by `dot` of an arrow with another one that turns once, of length 1 and 2."""
    angles = range(0, 361, 15)
    values = {
        f"length {length}": [float(dot(_turned(0, 1), _turned(angle, length))) for angle in angles] for length in (1, 2)
    }
    ax = curves(angles, values, xlabel="angle between a and b, in degrees", ylabel="a · b")
    ax.set_xticks(range(0, 361, 90))
    return with_alt_text(
        ax,
        "Two cosine curves over the angle from 0 to 360 degrees. The one for length 2 goes twice as high and as low as "
        "the one for length 1; both are zero at 90 and 270 degrees.",
        "a has length 1; the length of b is beside each curve. The direction decides the sign.",
    )


@with_choices(
    angle=(0, 360, 15),
    length=(0.5, 3.0, 0.5),
    start={"angle": 60, "length": 1.5},
    strip={"angle": [0, 60, 90, 150]},
)
def at_angle(dot: Function, *, angle: float, length: float) -> Figure:
    """An arrow of length 2 with one of another length, at an angle in degrees; the numbers by `dot`."""
    a, b = torch.tensor([2.0, 0.0]), _turned(angle, length)
    product = float(dot(a, b))
    value, cast = (round(number, 2) + 0.0 for number in (product, product / 2))  # a zero without a minus sign
    figure, (ax,) = row(1, width=3.0, height=3.2)
    arrows(a, b, ax=ax, title=f"a · b = 2 × {cast:.2f} = {value:.2f}")
    return with_alt_text(
        figure,
        f"a is 2 long; b is {length:g} long, at {angle} degrees to a. Its shadow is {cast:.2f} long, and the dot "
        f"product is {value:.2f}.",
    )


def rankings(words: Sequence[str], dots: torch.Tensor, cosines: torch.Tensor) -> Figure:
    """The dot products and the cosines (S,) of the query pet with `words`, as bars; the highest stands out."""
    figure, axes = row(2, width=4.6, height=2.9)
    bars(dots, words, ax=axes[0], title="dot product with pet: dog is first")
    bars(cosines, words, ax=axes[1], title="cosine with pet: cat is first", limit=1.25)
    for ax, winner in zip(axes, ("dog", "cat"), strict=True):
        ax.patches[words.index(winner)].set_facecolor(colour("k"))
    return with_alt_text(
        figure,
        "Bars for six words. By dot product with the query pet, dog leads with 2.06 before kitten 1.30 and cat 1.26. "
        "By cosine similarity cat leads with 0.97 before dog 0.91 and kitten 0.85. Car, bus and apple are negative in "
        "both.",
    )


def of_a_sentence(scores: torch.Tensor, words: Sequence[str]) -> Figure:
    """The scores (T, T) of the course's sentence with itself."""
    figure, _ = maps({"scores": scores}, width=4.4, height=3.6, rows=words, columns=words, kind="scores")
    return with_alt_text(
        figure,
        "A 6 by 6 heat map of the words of the sentence. boat, reached, river and bank score highest with themselves, "
        "from 2.93 to 3.50; river scores 3.00 with boat and with bank. The scores of the word the are all below 0.6.",
        "The scores of river with boat and with bank are 3.00.",
    )


def neighbours(lm: SmallLM, cosine: Function, word: str) -> Figure:
    """The five words of the model with the largest cosines with `word`, by `cosine`, as bars."""
    i = lm.words.index(word)
    cosines = cosine(lm.embedding[i], lm.embedding)
    near = [j for j in cosines.argsort(descending=True).tolist() if j != i][:5]
    names = [lm.words[j] for j in near]
    ax = bars(cosines[near], names, title=f"cosine with {word}")
    ax.tick_params(axis="x", rotation=40)
    return with_alt_text(
        ax,
        f"Bars for the five words nearest to {word}: "
        + ", ".join(f"{name} {cosines[j]:.2f}" for name, j in zip(names, near, strict=True)),
    )


@with_choices(query=(0, 2, 1), key=(0, 5, 1), strip=[{"query": 0, "key": 2}, {"query": 1, "key": 4}])
def one_cell(
    queries: torch.Tensor,
    keys: torch.Tensor,
    scores: torch.Tensor,
    query_names: Sequence[str],
    key_names: Sequence[str],
    meanings: Sequence[str],
    *,
    query: int,
    key: int,
) -> Figure:
    """Row `query` of queries, row `key` of keys and their cell of scores, framed.

    queries (T, K), keys (S, K), scores (T, S); `meanings` names the K entries. All cells have the same size. With alt
    text.
    """
    i, j = query, key
    columns, tallest = queries.shape[-1], max(len(queries), len(keys))
    shares = [columns, columns, len(keys)]
    figure, axes = row(3, width=3.3, height=0.45 * tallest + 0.9, ratios=shares)
    for ax, values, part, rows, names, title in (
        (axes[0], queries, "q", query_names, meanings, f"queries: row {i}"),
        (axes[1], keys, "k", key_names, meanings, f"keys: row {j}"),
        (axes[2], scores, "scores", query_names, key_names, f"scores: cell ({i}, {j})"),
    ):
        heat_map(values, ax=ax, rows=rows, columns=names, part=part, title=title)
        ax.set_ylim(tallest - 0.5, -0.5)
        ax.set_anchor("N")
    for ax, box in zip(axes, ((-0.5, i - 0.5, columns, 1), (-0.5, j - 0.5, columns, 1), (j - 0.5, i - 0.5, 1, 1))):
        frame(ax, box, (WHITE, 5.5), (INK, 2.5))  # the white line shows on a dark cell
    terms = [f"{_signed(x)} × {_signed(y)}" for x, y in zip(queries[i].tolist(), keys[j].tolist(), strict=True)]
    figure.supxlabel(f"{' + '.join(terms)} = {_signed(float(scores[i, j]))}", fontsize=10)
    count_t, count_s = scores.shape
    return with_alt_text(
        figure,
        f"Framed: the row {query_names[i]} of {count_t} queries, the row {key_names[j]} of {count_s} keys, and their "
        f"cell in the {count_t} by {count_s} matrix of scores, which holds {scores[i, j]:.2f}.",
    )


def lookups(most_similar: Function, similarity_scores: Function) -> Figure:
    """Which of five keys is found in each direction, by cosine and by dot product."""
    around = torch.deg2rad(torch.arange(360.0))
    directions = torch.stack([torch.cos(around), torch.sin(around)], dim=-1)  # (360, 2)
    keys = torch.tensor([[2.1, 0.2], [1.1, 1.7], [0.9, 0.5], [-1.6, 0.9], [-0.3, -1.8]])
    winners = {
        "highest cosine wins": most_similar(directions, keys),
        "highest dot product wins": similarity_scores(directions, keys).argmax(dim=-1),
    }
    return who_answers(keys, "ABCDE", winners)


def who_answers(keys: torch.Tensor, names: Sequence[str], winners: Mapping[str, torch.Tensor]) -> Figure:
    """`territories` of the same keys by several rules, with alt text."""
    figure, axes = row(len(winners), width=4.4, height=4.3)
    for ax, (title, found) in zip(axes, winners.items(), strict=True):
        territories(keys, names, found, ax=ax, title=title)
    details = "; ".join(f"{title}: {_shares(found, names)}" for title, found in winners.items())
    return with_alt_text(
        figure,
        f"{len(keys)} arrows from one point, and a ring that shows which of them wins for a query in each direction. "
        f"Directions out of {len(next(iter(winners.values())))} that each wins: {details}.",
    )


def territories(keys: torch.Tensor, names: Sequence[str], winners: torch.Tensor, *, ax: Axes, title: str = "") -> Axes:
    """Keys, (S, 2), as arrows, and a ring with the winning key for each direction.

    `winners`, (N,), has the index of the winning key for N evenly spaced query directions, from 0 degrees.
    """
    from matplotlib.patches import Wedge

    step = 360 / len(winners)
    for first, count, key in _runs(winners.tolist()):
        begin, end = (first - 0.5) * step, (first + count - 0.5) * step
        ax.add_patch(
            Wedge(
                (0, 0),
                3.0,
                begin,
                end,
                width=0.55,
                facecolor=PALETTE[key % 6],
                hatch=HATCHES[key % 6],
                edgecolor=INK,
                linewidth=0.8,
            )
        )
        middle = math.radians((begin + end) / 2)
        _label(ax, 3.35 * math.cos(middle), 3.35 * math.sin(middle), names[key])
    for index, key in enumerate(keys):
        x, y = _pair(key)
        arrow(ax, (0, 0), (x, y), colour=PALETTE[index % 6], width=2.2)
        length = math.hypot(x, y) or 1.0
        _label(ax, x + 0.2 * (x + y) / length, y + 0.2 * (y - x) / length, names[index])
    ax.set(xlim=(-4.1, 4.1), ylim=(-3.8, 3.8), aspect="equal", title=title)
    _bare(ax)
    return ax


def _turned(angle: float, length: float) -> torch.Tensor:
    """An arrow (2,) of a length, turned counter-clockwise by an angle in degrees."""
    radians = torch.deg2rad(torch.tensor(float(angle)))
    return length * torch.stack([torch.cos(radians), torch.sin(radians)])


def _shares(found: torch.Tensor, names: Sequence[str]) -> str:
    """Describe how often each key wins."""
    counts = torch.bincount(found, minlength=len(names)).tolist()
    return ", ".join(f"{name} {count or 'none'}" for name, count in zip(names, counts, strict=True))


def _runs(found: list[int]) -> list[tuple[int, int, int]]:
    """(first index, length, value) of each run of equal values, wrapping around."""
    changes = [i for i in range(len(found)) if found[i] != found[i - 1]] or [0]
    ends = [*changes[1:], changes[0] + len(found)]
    return [(begin, end - begin, found[begin]) for begin, end in zip(changes, ends, strict=True)]


def _pair(vector: torch.Tensor) -> tuple[float, float]:
    x, y = vector.detach().tolist()
    return x, y


def _signed(value: float) -> str:
    """A number with two decimals; a negative one in brackets, so that it can follow a sign."""
    return f"{value:.2f}" if value >= 0 else f"(−{-value:.2f})"


def _label(ax: Axes, x: float, y: float, text: str) -> None:
    write(ax, x, y, text, fontsize=10, fontweight="bold")


def _bare(ax: Axes) -> None:
    """Draw a plane with its two axes and no numbers on them."""
    ax.axhline(0, color=LIGHT, linewidth=0.8, zorder=0)
    ax.axvline(0, color=LIGHT, linewidth=0.8, zorder=0)
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
