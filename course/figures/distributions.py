"""Figures of weights that add up to 1: their sums, temperature, entropy, and what they look up.

The caller computes everything that is drawn, so that a lesson draws with the reader's own functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import torch

from .base import row, with_alt_text, with_caption, with_choices
from .lines import curves, level, note
from .panels import bars, heat_map
from .roles import soft_lookup

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..models.small_lm import SmallLM

Function = Callable[..., torch.Tensor]


def sums(weights: torch.Tensor, *, ax: Axes, title: str = "") -> Axes:
    """A heat map of `weights`, (R, C), with the sums of its rows and columns."""
    heat_map(weights, ax=ax, part="weights", title=title)
    rows, columns = weights.shape
    places = [(columns - 0.4, float(r), "left") for r in range(rows)]
    places += [(float(c), rows - 0.2, "center") for c in range(columns)]
    totals = torch.cat([weights.sum(dim=1), weights.sum(dim=0)]).tolist()
    for (x, y, side), total in zip(places, totals, strict=True):
        ax.text(
            x,
            y,
            f"= {total:.2f}" if side == "left" else f"{total:.2f}",
            ha=side,
            va="center",
            weight="bold" if math.isclose(total, 1.0, abs_tol=5e-3) else "normal",
            clip_on=False,
        )
    return ax


@with_choices(
    temperature=[0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0],
    start={"temperature": 1.0},
    strip=[0.3, 1.0, 5.0],
)
def heated(sharpen: Function, scores: torch.Tensor, labels: Sequence[str], *, temperature: float) -> Figure:
    """The `budget` of the weights that `sharpen` makes of scores (N,) at a temperature, and how many words share it."""
    weights = sharpen(scores, temperature)
    shared = f"shared by {torch.special.entr(weights).sum().exp():.1f} words"
    return budget(weights, labels, f"temperature {temperature}, {shared}", f"τ = {temperature:g}: {shared}")


def budget(weights: torch.Tensor, labels: Sequence[str], about: str, title: str = "") -> Figure:
    """`weights`, (N,), as bars from 0 to 1, with dashes at the equal share 1 / N, under a `title`.

    `about` begins the alt text: it says what the weights are, e.g. "temperature 0.5".
    """
    figure, (ax,) = row(1, width=0.95 + 0.52 * len(labels), height=2.7)
    bars(weights, labels, ax=ax, part="weights", title=title, limit=1.12)
    share = 1 / len(labels)
    # Between the bars only: a continuous line would cross the numbers above them
    gaps = [i - 0.5 for i in range(len(labels) + 1)]
    ax.hlines([share] * len(gaps), [x - 0.12 for x in gaps], [x + 0.12 for x in gaps], color="black", linewidth=1.4)
    ax.set_xlim(-0.65, len(labels) - 0.35)
    ax.set_yticks([0, share, 0.5, 1], ["0", f"1/{len(labels)}", "0.5", "1"])
    top = int(weights.argmax())
    return with_alt_text(
        figure,
        f"{about}: {len(labels)} bars; the tallest, {float(weights[top]):.2f}, is that of "
        f"“{labels[top]}”; dashes mark the equal share, {share:.2f}.",
    )


def cooling(sharpen: Function, entropy: Function, scores: torch.Tensor, labels: Sequence[str]) -> Figure:
    """The weights that `sharpen` makes of scores (N,), and their `entropy`, from temperature 0.1 to 100.

    `labels` names the N weights; of names that differ only in capitals, only the first has a curve. With alt text.
    """
    temperatures = torch.logspace(-1, 2, 41)
    weights = torch.stack([sharpen(scores, tau) for tau in temperatures.tolist()])  # (41, N)
    entropies = entropy(weights)
    figure, (left, right) = row(2, width=4.6, height=3.5)
    once = {label.casefold(): i for i, label in reversed(list(enumerate(labels)))}
    ys = {labels[i]: weights[:, i] for i in sorted(once.values())}
    curves(temperatures, ys, ax=left, names="legend", xlabel="temperature", title="weights", log="x")
    curves(temperatures, {"": entropies}, ax=right, xlabel="temperature", title="entropy (nats)", log="x")
    most = math.log(len(labels))
    right.set_ylim(-0.12 * most, 1.14 * most)
    for height, name, side in ((0.0, "0: one word", 1.0), (most, f"ln {len(labels)}: {len(labels)} words", 0.0)):
        level(right, height)
        align = "right" if side else "left"
        note(right, name, (side, height), (0, 3), xycoords=right.get_yaxis_transform(), ha=align)
    details = ", ".join(f"{name} {y[0]:.2f} to {y[-1]:.2f}" for name, y in ys.items())
    return with_alt_text(
        figure,
        f"Against the temperature, from {temperatures[0]:.2g} to {temperatures[-1]:.3g}: on the left the weights, "
        f"{details}; on the right their entropy, {entropies[0]:.2f} to {entropies[-1]:.2f}, where ln {len(labels)} is "
        f"{most:.2f}.",
        "Names that differ only in capitals have the same curve.",
    )


def soft_dictionary(sharpen: Function) -> Figure:
    """A dictionary of four water levels, and the same look-up with the weights of `sharpen` at two temperatures."""
    hours = torch.tensor([6.0, 9.0, 10.0, 13.0])  # (S,), the keys
    metres = torch.tensor([2.4, 0.7, 0.6, 2.0])  # (S,), the values
    gaps = -((9.0 - hours) ** 2)
    panels = {"dictionary": (hours == 9.0).float()}
    panels |= {f"soft, τ = {tau}": sharpen(gaps, float(tau)) for tau in (1, 20)}
    figure = soft_lookup(panels, "9 h", [f"{hour:.0f} h" for hour in hours.tolist()], metres)
    return with_caption(
        figure, "The keys are hours, the values water levels in metres. A higher temperature spreads the weights."
    )


def answers(look_up: Function, hours: torch.Tensor, levels: torch.Tensor, tide: Function) -> Figure:
    """What `look_up` answers through a day at three temperatures: readings (S,) at hours (S,), and the `tide`."""
    all_day = torch.linspace(0.0, 24.0, 481)
    found = {f"τ = {tau:g}": look_up(all_day, hours, levels, tau) for tau in (0.001, 1.0, 100.0)}
    figure, (ax,) = row(1, width=7.2, height=3.4)
    curves(all_day, found, ax=ax, xlabel="hour", ylabel="level (m)")
    ax.plot(all_day, tide(all_day), color="grey", linewidth=4, alpha=0.45, zorder=1)
    ax.plot(hours, levels, "o", markerfacecolor="none", markeredgecolor="black", markersize=6, zorder=3)
    return with_alt_text(
        figure,
        "Forty circles, the readings, rise and fall twice in 24 hours, between about 0 and 4 metres. The answers at "
        "τ = 0.001 are a staircase that jumps from one circle to the next; at τ = 1 a smooth wave close to the broad "
        "grey line of the tide; at τ = 100 a nearly flat line at 2 metres.",
        "Circles: readings. Broad grey line: the tide without waves.",
    )


def next_words(lm: SmallLM, softmax: Function, entropy: Function) -> Figure:
    """The seven likeliest next words of the model after three texts, and how many words share the attention."""
    texts = ("The", "The boat reached", "The boat reached the river")
    figure, axes = row(len(texts), width=3.2, height=3.1)
    details = []
    for ax, text in zip(axes, texts, strict=True):
        probabilities = softmax(lm.next_scores(text), dim=-1)  # (N,)
        first = probabilities.topk(7).indices
        likeliest, shared = [lm.words[i] for i in first], float(entropy(probabilities).exp())
        bars(probabilities[first], likeliest, ax=ax, part="weights", title=f"{text} …", limit=1.1)
        ax.set_xlabel(f"shared by {shared:.1f} words")
        ax.tick_params(axis="x", rotation=60)
        details.append(f"after “{text}” {likeliest[0]} {probabilities[first[0]]:.2f}, shared by {shared:.1f} words")
    return with_alt_text(
        figure,
        f"Three bar charts of the seven likeliest next words: {'; '.join(details)}.",
        "The seven likeliest next words.",
    )
