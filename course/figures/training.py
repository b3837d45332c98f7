"""Figures of lesson 08: batches, surprise, blocks, losses, heads, generated text.

All have alt text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill, wrap
from typing import TYPE_CHECKING, Any

import torch

from .base import grid, row, with_alt_text
from .lines import Curve, in_words, level, losses, means, note
from .panels import heat_map
from .style import GREY, INK, LIGHT, LINES, MARKERS, MONO, PALE_BLUE, PALE_ORANGE, PALETTE, SMALL, cell_colours, ink_on

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def batch(inputs: Sequence[str], targets: Sequence[str]) -> Figure:
    """Windows of a text, one letter per box: a row of inputs, and its targets below."""
    from matplotlib.patches import Rectangle

    length = len(inputs[0])
    figure, (ax,) = row(1, width=1.6 + 0.3 * length, height=0.3 + 0.72 * len(inputs))
    for i, window in enumerate(zip(inputs, targets, strict=True)):
        for j, letters in enumerate(window):
            y = 2.4 * i + j
            ax.text(-0.8, y, ("inputs", "targets")[j], ha="right", va="center", fontsize=SMALL)
            for t, letter in enumerate(letters):
                ax.add_patch(Rectangle((t - 0.47, y - 0.47), 0.94, 0.94, facecolor=(PALE_BLUE, PALE_ORANGE)[j]))
                ax.text(t, y, _visible(letter), ha="center", va="center", family=MONO)
    ax.set(xlim=(-4.6, length), ylim=(2.4 * len(inputs) - 0.9, -0.7))
    ax.axis("off")
    details = "; ".join(f"{a!r} above {b!r}" for a, b in zip(inputs, targets, strict=True))
    return with_alt_text(figure, f"{len(inputs)} windows of text, each with its targets one letter further: {details}.")


def starts(counts: torch.Tensor, draws: int) -> Figure:
    """How often each start (n,) was drawn, and the number for equal chances."""
    fair = draws / len(counts)
    figure, (ax,) = row(1, width=6.4, height=2.5)
    ax.bar(range(len(counts)), counts.tolist(), color=PALETTE[0], width=0.7)
    ax.axhline(fair, color=INK, linewidth=1.2, linestyle="--")
    place = {"xycoords": ax.get_yaxis_transform(), "annotation_clip": False}
    note(ax, "equal chances", (1, fair), (4, 0), va="center", **place)
    ax.set(xlabel="start of the window", ylabel=f"times of {draws}", xticks=range(len(counts)))
    low, high = int(counts.min()), int(counts.max())
    return with_alt_text(
        figure, f"{len(counts)} starts, drawn {low} to {high} times each; equal chances give {fair:.0f}."
    )


def surprise(text: str, rows: Mapping[str, torch.Tensor]) -> Figure:
    """Bars over the letters of a text: their surprise in nats, one row per title."""
    figure, panels = grid(len(rows), 1, width=9.6, height=1.25, above=0.2)
    top = max(float(values.max()) for values in rows.values())
    for ax, (title, values) in zip(panels, rows.items(), strict=True):
        ax.bar(range(len(text)), values.tolist(), color=PALETTE[0], width=0.8)
        ax.set_xticks(range(len(text)), [_visible(letter) for letter in text], family=MONO)
        ax.tick_params(axis="x", length=0)
        ax.set(xlim=(-0.7, len(text) - 0.3), ylim=(0, 1.08 * top), ylabel="nats")
        ax.set_title(f"{title}: {values.mean():.2f} on average", loc="left")
    details = "; ".join(
        f"{title}: {v.mean():.2f} on average, greatest at {text[int(v.argmax())]!r} with {v.max():.1f}"
        for title, v in rows.items()
    )
    return with_alt_text(figure, f"Bars of surprise over the letters of {text!r}. {details}.")


def block() -> Figure:
    """A pre-norm transformer block: the residual stream of X, and two branches."""
    from matplotlib.patches import FancyBboxPatch

    figure, (ax,) = row(1, width=9.2, height=2.4)
    arrow = {"arrowstyle": "-|>", "color": INK, "linewidth": 1.4}
    ax.annotate("", (12.3, 0), (0.1, 0), arrowprops=arrow)
    ax.text(-0.1, 0, r"$\mathbf{X}$", ha="right", va="center", fontsize=13)
    ax.text(12.4, 0, "result", ha="left", va="center")
    for left, parts in ((0.8, ("norm_1", "attention")), (6.8, ("norm_2", "mlp"))):
        ax.plot([left, left], [0, 1.5], color=INK, linewidth=1.4)
        ax.annotate("", (left + 0.5, 1.5), (left - 0.02, 1.5), arrowprops=arrow)
        for i, part in enumerate(parts):
            start = left + 0.55 + 2.3 * i
            ax.add_patch(
                FancyBboxPatch(
                    (start, 1.12),
                    1.7,
                    0.76,
                    boxstyle="round,pad=0.04",
                    facecolor=PALE_BLUE,
                    edgecolor=PALETTE[0],
                    linewidth=1.2,
                )
            )
            ax.text(start + 0.85, 1.5, part, ha="center", va="center", fontsize=10)
        ax.annotate("", (left + 2.8, 1.5), (left + 2.3, 1.5), arrowprops=arrow)
        ax.plot([left + 4.6, left + 5.0], [1.5, 1.5], color=INK, linewidth=1.4)
        ax.annotate("", (left + 5.0, 0.24), (left + 5.0, 1.5), arrowprops=arrow)
        ax.plot(left + 5.0, 0, "o", markersize=17, markerfacecolor="white", markeredgecolor=INK)
        ax.text(left + 5.0, -0.01, "+", ha="center", va="center", fontsize=14)
    ax.set(xlim=(-0.6, 13.6), ylim=(-0.5, 2.1))
    ax.axis("off")
    return with_alt_text(
        figure,
        "A straight arrow leads from X to the result. Twice a detour branches off and is added to it again: first "
        "through norm_1 and attention, then through norm_2 and the mlp.",
    )


def descent(path: Sequence[float], title: str = "") -> Figure:
    """The parabola w²/2, and the points of `path` on it, joined in order."""
    figure, (ax,) = row(1, width=3.1, height=2.7)
    reach = 4.2
    w = torch.linspace(-reach, reach, 101)
    ax.plot(w.tolist(), (w.square() / 2).tolist(), color=GREY, linewidth=1.4)
    ax.plot(path, [at * at / 2 for at in path], "o-", color=PALETTE[0], markersize=5, linewidth=1.0)
    ax.plot(path[0], path[0] ** 2 / 2, "s", color=PALETTE[1], markersize=8)
    note(ax, "start", (path[0], path[0] ** 2 / 2), (8, -4))
    ax.set(xlim=(-reach, reach), ylim=(-0.6, reach**2 / 2), xlabel="θ", ylabel="loss", title=title)
    details = ", ".join(f"{at:.2f}" for at in path[:5])
    return with_alt_text(
        figure, f"{title}. Steps on a parabola from {details}, … to {path[-1]:.2f} after {len(path) - 1} steps."
    )


def modes(training: Sequence[float], evaluated: Sequence[float], measured: str = "eval mode") -> Figure:
    """Losses of one model on one text, in training mode and in eval mode.

    `measured` names the second row, if it is something else.
    """
    figure, (ax,) = row(1, width=6.6, height=1.8)
    for y, (values, look) in enumerate(((training, 0), (evaluated, 1))):
        ax.plot(values, [y] * len(values), MARKERS[look], color=PALETTE[look], markersize=6, alpha=0.8)
    ax.set_yticks([0, 1], ["training mode", fill(measured, 20)])
    ax.set(ylim=(-0.6, 1.6), xlabel="loss on the same text")
    ax.grid(axis="x", color=LIGHT, linewidth=0.6)
    return with_alt_text(
        figure,
        f"{len(training)} measurements in training mode lie between {min(training):.3f} and {max(training):.3f}; "
        f"{len(evaluated)} {'in' if measured == 'eval mode' else 'by'} {measured} between {min(evaluated):.3f} and "
        f"{max(evaluated):.3f}.",
    )


def heads(rows: Mapping[str, torch.Tensor], letters: Sequence[str]) -> Figure:
    """Attention maps of weights (H, T, T), one row of panels for each title.

    Maps of at most 64 cells show their numbers; larger ones share one colour bar.
    """
    count, size = next(iter(rows.values())).shape[:2]
    small = size * size <= 64
    side = (0.9 + 0.36 * size) if small else max(2.3, 0.16 * size)
    figure, panels = grid(len(rows) * count, count, width=side, height=side + 0.1, beside=0.2, above=0.2)
    signs = [_visible(letter) for letter in letters]
    each = [(f"{title}, head {h}", h, weights) for title, maps in rows.items() for h, weights in enumerate(maps)]
    for ax, (title, h, weights) in zip(panels, each, strict=True):
        if small:
            heat_map(weights, ax=ax, rows=signs if h == 0 else None, columns=signs, title=title)
        else:
            image = _bare_map(ax, weights, signs, size=8)
            ax.set_title(title, pad=4)
        ax.set_ylabel("" if h else "queries")
    for ax in panels[-count:]:
        ax.set_xlabel("keys")
    if not small:
        figure.colorbar(image, ax=panels, fraction=0.02, pad=0.01)
    details = "; ".join(f"{title}: {', '.join(map(_habit, maps))}" for title, maps in rows.items())
    return with_alt_text(figure, f"Attention maps of {count} heads over {''.join(letters)!r}. {details}.")


def induction(weights: torch.Tensor, letters: Sequence[str], wanted: torch.Tensor, title: str = "") -> Figure:
    """One head's weights (T, T), with an induction head's targets (`wanted`) framed."""
    from matplotlib.patches import Rectangle

    figure, (ax,) = row(1, width=4.4, height=4.3)
    _bare_map(ax, weights, list(letters), size=8)
    for r, c in wanted.nonzero().tolist():
        ax.add_patch(Rectangle((c - 0.5, r - 0.5), 1, 1, fill=False, edgecolor=PALETTE[1], linewidth=1.3))
    ax.set(xlabel="keys", ylabel="queries")
    ax.set_title(title, pad=8)
    asked = wanted.any(-1)
    share = float((weights * wanted).sum(-1)[asked].mean())
    return with_alt_text(
        figure,
        f"{title}. A map of {len(letters)} by {len(letters)} weights. The framed cells, the letter after an earlier "
        f"occurrence of the query's own, hold {share:.0%} of the weight of the queries that have one.",
    )


def forming(
    steps: Sequence[int], surprise: Sequence[float], scores: Mapping[str, Sequence[float]], chance: float
) -> Figure:
    """Loss on the predictable part and scores of heads (0 to 1), against the step."""
    figure, (left, right) = row(2, width=4.7, height=3.2)
    loss = {"what can be predicted": (steps, surprise)}
    losses(loss, {"a guess": chance}, ax=left, ylabel="loss in nats", title="the loss")
    looks: dict[str, Curve] = {name: (steps, score) for name, score in scores.items()}
    losses(looks, ax=right, ylabel="share of the weight", title="what heads look at", top=1.02)
    return with_alt_text(figure, f"Two panels against the step. {in_words(loss)}. Scores: {in_words(looks)}.")


def gallery(
    runs: Mapping[str, Mapping[str, Curve]], right: Sequence[float], levels: Mapping[str, float], every: int
) -> Figure:
    """Loss curves, one panel for each title, each also with the correct loop's curve."""
    across = 3
    figure, panels = grid(len(runs), across, width=3.3, height=2.3)
    for place, (ax, (title, run)) in enumerate(zip(panels, runs.items(), strict=True)):
        named = place == min(across, len(runs)) - 1  # only one panel names the levels
        look: dict[str, Any] = {"every": every, "names": "none", "title": title, "top": 4.9}
        losses(run, levels if named else {}, ax=ax, **look)
        ax.plot(*means(right, every), color=GREY, linestyle=LINES[1], linewidth=1.3, zorder=1, label="no bug")
        for height in () if named else levels.values():
            level(ax, height)
        ax.set_xlabel("step" if place >= len(runs) - across else "")
        ax.set_ylabel("" if place % across else "loss in nats")
    handles = panels[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside upper left", ncols=3, frameon=False, fontsize=SMALL)
    details = "; ".join(f"{title}: {in_words(run, every)}" for title, run in runs.items())
    without = in_words({"without a bug": right}, every)
    return with_alt_text(figure, f"{len(runs)} panels of loss against step. {details}. In each, {without}.")


def page(text: str, surprise: torch.Tensor, title: str = "", width: int = 62) -> Figure:
    """A text on a background that is darker for letters that surprised the model more.

    `surprise` is (len(text),), in nats; letters of more than 3 nats are also underlined.
    """
    from matplotlib.patches import Rectangle

    flat = text.replace("\n", " ")
    lines = wrap(flat, width, drop_whitespace=False, replace_whitespace=False) or [""]
    figure, (ax,) = row(1, width=0.1 * width + 0.3, height=0.235 * len(lines) + 0.4)
    colours = cell_colours("amounts")
    place = 0
    for y, line in enumerate(lines):
        for x, letter in enumerate(line):
            nats = float(surprise[place])
            place += 1
            ground = colours(min(nats, 6.0) / 8)
            ax.add_patch(Rectangle((x, y), 1, 1, facecolor=ground, linewidth=0))
            ax.text(
                x + 0.5,
                y + 0.5,
                letter,
                ha="center",
                va="center",
                family=MONO,
                fontsize=9.5,
                color=ink_on(ground),
            )
            if nats > 3:
                ax.plot([x + 0.1, x + 0.9], [y + 0.95] * 2, color=INK, linewidth=1.0)
    ax.set(xlim=(0, width), ylim=(len(lines), 0))
    ax.set_title(title, loc="left")
    ax.axis("off")
    named = " ".join(title.split())
    return with_alt_text(figure, f"{named}: {flat!r}, {float(surprise.mean()):.2f} nats of surprise a letter.")


def _bare_map(ax: Axes, weights: torch.Tensor, signs: list[str], size: float = 7) -> Any:
    image = ax.imshow(
        weights.detach().cpu().numpy(), cmap=cell_colours("weights"), vmin=0, vmax=1, interpolation="none"
    )
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_ticks(range(len(signs)), signs, fontsize=size, family=MONO)
    ax.tick_params(length=0, labeltop=True, labelbottom=False, pad=1)
    ax.spines[:].set_visible(False)
    return image


def _habit(weights: torch.Tensor) -> str:
    """Describe a head: mean weight on the letter itself, and on the one before."""
    itself, before = weights.diagonal().mean(), weights.diagonal(-1).mean()
    return f"{itself:.2f} on itself, {before:.2f} on the one before"


def _visible(letter: str) -> str:
    return {" ": "␣", "\n": "¶"}.get(letter, letter)
