"""Pictures for lesson 08: batches, surprise, blocks, losses, heads before and after, and text that a model wrote.

Every function returns `(figure, alt)`: the picture, and what it shows in words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import torch

from course.figures.base import INK, LINES, MARKERS, PALETTE, STYLE, heat_map, ink_on, row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GREY = "#666666"
Curve = Sequence[float] | tuple[Sequence[float], Sequence[float]]


def grid(lines: int, columns: int, *, width: float, height: float) -> tuple[Figure, list[list[Axes]]]:
    """A figure of `lines` times `columns` panels, each `width` by `height` inches."""
    import matplotlib.pyplot as plt

    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(
            lines, columns, figsize=(columns * width, lines * height), squeeze=False, layout="constrained"
        )
    return figure, [list(line) for line in axes]


def batch(inputs: Sequence[str], targets: Sequence[str]) -> tuple[Figure, str]:
    """Windows of a text, one letter in each box: a row of inputs, and under each letter its target."""
    from matplotlib.patches import Rectangle

    length = len(inputs[0])
    figure, (ax,) = row(1, width=1.6 + 0.3 * length, height=0.3 + 0.72 * len(inputs))
    for i, window in enumerate(zip(inputs, targets, strict=True)):
        for j, letters in enumerate(window):
            y = 2.4 * i + j
            ax.text(-0.8, y, ("inputs", "targets")[j], ha="right", va="center", fontsize=9)
            for t, letter in enumerate(letters):
                ax.add_patch(Rectangle((t - 0.47, y - 0.47), 0.94, 0.94, facecolor=("#e8f0f7", "#fdf0e3")[j]))
                ax.text(t, y, _visible(letter), ha="center", va="center", family="DejaVu Sans Mono")
    ax.set(xlim=(-4.6, length), ylim=(2.4 * len(inputs) - 0.9, -0.7))
    ax.axis("off")
    told = "; ".join(f"{a!r} above {b!r}" for a, b in zip(inputs, targets, strict=True))
    return figure, f"{len(inputs)} windows of text, each with its targets one letter further: {told}."


def starts(counts: torch.Tensor, draws: int) -> tuple[Figure, str]:
    """How often each start (n,) was drawn, beside the number that equal chances would give."""
    fair = draws / len(counts)
    figure, (ax,) = row(1, width=6.4, height=2.5)
    ax.bar(range(len(counts)), counts.tolist(), color=PALETTE[0], width=0.7)
    ax.axhline(fair, color=INK, linewidth=1.2, linestyle="--")
    ax.annotate(
        "equal chances",
        (1, fair),
        (4, 0),
        xycoords=ax.get_yaxis_transform(),
        textcoords="offset points",
        va="center",
        fontsize=9,
        annotation_clip=False,
    )
    ax.set(xlabel="start of the window", ylabel=f"times of {draws}", xticks=range(len(counts)))
    low, high = int(counts.min()), int(counts.max())
    return figure, f"{len(counts)} starts, drawn {low} to {high} times each; equal chances give {fair:.0f}."


def surprise(text: str, rows: Mapping[str, torch.Tensor]) -> tuple[Figure, str]:
    """A bar over every letter of a text: how surprising it was, in nats. One row for each title, with its mean."""
    import matplotlib.pyplot as plt

    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(
            len(rows), 1, figsize=(9.6, 1.25 * len(rows) + 0.2), squeeze=False, layout="constrained"
        )
    top = max(float(values.max()) for values in rows.values())
    for ax, (title, values) in zip(panels[:, 0], rows.items(), strict=True):
        ax.bar(range(len(text)), values.tolist(), color=PALETTE[0], width=0.8)
        ax.set_xticks(range(len(text)), [_visible(letter) for letter in text], family="DejaVu Sans Mono")
        ax.tick_params(axis="x", length=0)
        ax.set(xlim=(-0.7, len(text) - 0.3), ylim=(0, 1.08 * top), ylabel="nats")
        ax.set_title(f"{title}: {values.mean():.2f} on average", loc="left")
    told = "; ".join(
        f"{title}: {v.mean():.2f} on average, greatest at {text[int(v.argmax())]!r} with {v.max():.1f}"
        for title, v in rows.items()
    )
    return figure, f"Bars of surprise over the letters of {text!r}. {told}."


def block() -> tuple[Figure, str]:
    """A pre-norm transformer block: the straight way of x, and two detours that are added to it."""
    from matplotlib.patches import FancyBboxPatch

    figure, (ax,) = row(1, width=9.2, height=2.4)
    arrow = {"arrowstyle": "-|>", "color": INK, "linewidth": 1.4}
    ax.annotate("", (12.3, 0), (0.1, 0), arrowprops=arrow)
    ax.text(-0.1, 0, "$x$", ha="right", va="center", fontsize=13)
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
                    facecolor="#e8f0f7",
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
    return figure, (
        "A straight arrow leads from x to the result. Twice a detour branches off and is added to it again: first "
        "through norm_1 and attention, then through norm_2 and the mlp."
    )


def descent(path: Sequence[float], title: str = "") -> tuple[Figure, str]:
    """The parabola w²/2, and the places of `path` on it, joined in the order in which they were visited."""
    figure, (ax,) = row(1, width=3.1, height=2.7)
    reach = 4.2
    w = torch.linspace(-reach, reach, 101)
    ax.plot(w.tolist(), (w.square() / 2).tolist(), color=GREY, linewidth=1.4)
    ax.plot(path, [at * at / 2 for at in path], "o-", color=PALETTE[0], markersize=5, linewidth=1.0)
    ax.plot(path[0], path[0] ** 2 / 2, "s", color=PALETTE[1], markersize=8)
    ax.annotate("start", (path[0], path[0] ** 2 / 2), (8, -4), textcoords="offset points", fontsize=9)
    ax.set(xlim=(-reach, reach), ylim=(-0.6, reach**2 / 2), xlabel="θ", ylabel="loss", title=title)
    told = ", ".join(f"{at:.2f}" for at in path[:5])
    return figure, f"{title}. Steps on a parabola from {told}, … to {path[-1]:.2f} after {len(path) - 1} steps."


def losses(
    curves: Mapping[str, Curve], levels: Mapping[str, float] | None = None, *, every: int = 1, top: float | None = None
) -> tuple[Figure, str]:
    """Losses against the step: a list with one for each step, or a pair (steps, losses). Levels are dotted lines.

    Lists are averaged over `every` steps. `top` cuts the axis off.
    """
    figure, (ax,) = row(1, width=8.4, height=3.6)
    told = _losses(ax, curves, levels or {}, every)
    ax.set_ylim(0, top)
    ax.set(xlabel="step", ylabel="loss in nats")
    lines = ", ".join(f"{name} at {level:.2f}" for name, level in (levels or {}).items())
    return figure, f"Loss against step. {told}.{f' Dotted lines: {lines}.' if lines else ''}"


def modes(training: Sequence[float], evaluated: Sequence[float]) -> tuple[Figure, str]:
    """The loss of one model on one text, measured several times in training mode and several times in eval mode."""
    figure, (ax,) = row(1, width=6.6, height=1.8)
    for y, (values, look) in enumerate(((training, 0), (evaluated, 1))):
        ax.plot(values, [y] * len(values), MARKERS[look], color=PALETTE[look], markersize=6, alpha=0.6)
    ax.set_yticks([0, 1], ["training mode", "eval mode"])
    ax.set(ylim=(-0.6, 1.6), xlabel="loss on the same text")
    ax.grid(axis="x", color="#dddddd", linewidth=0.6)
    return figure, (
        f"{len(training)} measurements in training mode lie between {min(training):.3f} and {max(training):.3f}; "
        f"{len(evaluated)} in eval mode between {min(evaluated):.3f} and {max(evaluated):.3f}."
    )


def heads(rows: Mapping[str, torch.Tensor], letters: Sequence[str]) -> tuple[Figure, str]:
    """Attention maps, one row of panels for each title: weights (H, T, T), queries downwards, keys across.

    Maps of at most 64 cells carry their numbers; larger ones share one colour bar.
    """
    count, size = next(iter(rows.values())).shape[:2]
    small = size * size <= 64
    side = (0.9 + 0.36 * size) if small else max(2.3, 0.11 * size)
    figure, panels = grid(len(rows), count, width=side, height=side + 0.1)
    signs = [_visible(letter) for letter in letters]
    for line, (title, maps) in zip(panels, rows.items(), strict=True):
        for h, (ax, weights) in enumerate(zip(line, maps, strict=True)):
            if small:
                heat_map(weights, ax=ax, rows=signs if h == 0 else None, columns=signs, title=f"{title}, head {h}")
            else:
                image = _bare_map(ax, weights, signs, size=8)
                ax.set_title(f"{title}, head {h}", pad=4)
    if not small:
        figure.colorbar(image, ax=[ax for line in panels for ax in line], fraction=0.02, pad=0.01)
    told = "; ".join(f"{title}: {', '.join(map(_habit, maps))}" for title, maps in rows.items())
    return figure, f"Attention maps of {count} heads over {''.join(letters)!r}. {told}."


def induction(
    weights: torch.Tensor, letters: Sequence[str], wanted: torch.Tensor, title: str = ""
) -> tuple[Figure, str]:
    """One head's weights (T, T); the cells (T, T) that an induction head would look at are framed."""
    from matplotlib.patches import Rectangle

    figure, (ax,) = row(1, width=4.4, height=4.3)
    _bare_map(ax, weights, list(letters), size=8)
    for r, c in wanted.nonzero().tolist():
        ax.add_patch(Rectangle((c - 0.5, r - 0.5), 1, 1, fill=False, edgecolor=PALETTE[1], linewidth=1.3))
    ax.set_title(title, pad=8)
    ax.set_ylabel("query")
    asked = wanted.any(-1)
    share = float((weights * wanted).sum(-1)[asked].mean())
    return figure, (
        f"{title}. A map of {len(letters)} by {len(letters)} weights. The framed cells, the letter after an earlier "
        f"occurrence of the query's own, hold {share:.0%} of the weight of the queries that have one."
    )


def forming(
    steps: Sequence[int], surprise: Sequence[float], scores: Mapping[str, Sequence[float]], chance: float
) -> tuple[Figure, str]:
    """Side by side against the step: the loss on what can be foretold, and the scores of heads, from 0 to 1."""
    figure, (left, right) = row(2, width=4.7, height=3.2)
    told = _losses(left, {"what can be foretold": (steps, surprise)}, {"a guess": chance}, 1)
    left.set(xlabel="step", ylabel="loss in nats", title="the loss", ylim=(0, None))
    told += ". Scores: " + _losses(right, {name: (steps, score) for name, score in scores.items()}, {}, 1)
    right.set(xlabel="step", ylabel="share of the weight", title="what heads look at", ylim=(0, 1.02))
    return figure, f"Two panels against the step. {told}."


def gallery(
    runs: Mapping[str, Mapping[str, Curve]], right: Sequence[float], levels: Mapping[str, float], every: int
) -> tuple[Figure, str]:
    """Loss curves, one panel for each title, with the same names in each; in every panel the right loop's, dashed."""
    columns = 3
    figure, panels = grid(-(-len(runs) // columns), columns, width=3.3, height=2.3)
    flat = [ax for line in panels for ax in line]
    told = []
    for place, (ax, (title, curves)) in enumerate(zip(flat, runs.items(), strict=False)):
        said = _losses(ax, curves, levels, every, legend=False, names=place == min(2, len(runs) - 1))
        ax.plot(*_smooth(right, every), color=GREY, linestyle=(0, (4, 2)), linewidth=1.3, zorder=1, label="no bug")
        ax.set(title=title, ylim=(-0.15, 4.9), xlabel="step" if place >= len(runs) - columns else "")
        told.append(f"{title}: {said}")
    for ax in flat[len(runs) :]:
        ax.remove()
    for line in panels:
        line[0].set_ylabel("loss in nats")
    figure.legend(*flat[0].get_legend_handles_labels(), loc="outside upper left", ncols=3, frameon=False, fontsize=9)
    return figure, f"{len(runs)} panels of loss against step. {'; '.join(told)}. Without a bug: {_told('', right)}."


def page(text: str, surprise: torch.Tensor, title: str = "", width: int = 62) -> tuple[Figure, str]:
    """A text, each letter on a ground that is the darker the more surprising it was to the model that wrote it.

    `surprise` is (len(text),), in nats; letters of more than 3 nats are underlined as well.
    """
    import matplotlib
    from matplotlib.patches import Rectangle

    flat = text.replace("\n", " ")
    lines = wrap(flat, width, drop_whitespace=False, replace_whitespace=False) or [""]
    figure, (ax,) = row(1, width=0.1 * width + 0.3, height=0.235 * len(lines) + 0.4)
    colours = matplotlib.colormaps["YlOrBr"]
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
                family="DejaVu Sans Mono",
                fontsize=9.5,
                color=ink_on(ground),
            )
            if nats > 3:
                ax.plot([x + 0.1, x + 0.9], [y + 0.95] * 2, color=INK, linewidth=1.0)
    ax.set(xlim=(0, width), ylim=(len(lines), 0))
    ax.set_title(title, loc="left")
    ax.axis("off")
    return figure, f"{title}: {flat!r}, {float(surprise.mean()):.2f} nats of surprise a letter."


def _losses(
    ax: Axes,
    curves: Mapping[str, Curve],
    levels: Mapping[str, float],
    every: int,
    *,
    legend: bool = True,
    names: bool = True,
) -> str:
    """Draw losses and levels; returns what the curves do, in words."""
    told = []
    for i, (name, curve) in enumerate(curves.items()):
        x, y = curve if isinstance(curve, tuple) else _smooth(curve, every)
        look: dict[str, Any] = {"color": PALETTE[i % 7], "linestyle": LINES[i % 7], "marker": MARKERS[i % 7]}
        ax.plot(x, y, label=name, linewidth=1.7, markersize=4.5, markevery=max(1, len(x) // 8), **look)
        told.append(_told(name, curve[1] if isinstance(curve, tuple) else curve))
    ax.grid(color="#dddddd", linewidth=0.6)
    for name, level in levels.items():
        ax.axhline(level, color=INK, linewidth=1.0, linestyle=":")
        if names:
            ax.annotate(
                f"{name} {level:.2f}",
                (0.995, level),
                (0, 2),
                xycoords=ax.get_yaxis_transform(),
                textcoords="offset points",
                ha="right",
                fontsize=8.5,
            )
    if legend:
        ax.legend(frameon=False, fontsize=8.5)
    return "; ".join(told)


def _smooth(values: Sequence[float], every: int) -> tuple[list[float], list[float]]:
    """Means over `every` values each, at the middle of their steps; a rest at the end counts too."""
    pieces = [values[i : i + every] for i in range(0, len(values), every)]
    x = [i * every + (len(piece) + 1) / 2 for i, piece in enumerate(pieces)]
    return x, [sum(piece) / len(piece) for piece in pieces]


def _told(name: str, values: Sequence[float]) -> str:
    middle = values[len(values) // 3]
    return f"{name} {values[0]:.2f} at first, {middle:.2f} after a third, {values[-1]:.2f} at the end".strip()


def _bare_map(ax: Axes, weights: torch.Tensor, signs: list[str], size: float = 7) -> Any:
    image = ax.imshow(weights.detach().cpu().numpy(), cmap="cividis", vmin=0, vmax=1, interpolation="nearest")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_ticks(range(len(signs)), signs, fontsize=size, family="DejaVu Sans Mono")
    ax.tick_params(length=0, labeltop=True, labelbottom=False, pad=1)
    ax.spines[:].set_visible(False)
    return image


def _habit(weights: torch.Tensor) -> str:
    """Where a head looks, in a word: the mean weight of a word on itself, on the one before it, and the greatest."""
    itself, before = weights.diagonal().mean(), weights.diagonal(-1).mean()
    return f"{itself:.2f} on itself, {before:.2f} on the one before"


def _visible(letter: str) -> str:
    return {" ": "␣", "\n": "¶"}.get(letter, letter)
