"""Figures of lesson 08: batches, surprise, blocks, losses, heads, generated text.

All have alt text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

import torch

from .base import grid, row, with_alt_text
from .lines import in_words, level, losses, note
from .panels import frame, heat_map, never_seen
from .shapes import arrow, cell, rounded, write
from .style import (
    FAINT,
    GREY,
    INK,
    LIGHT,
    LINES,
    MARKERS,
    MONO,
    PALE,
    PALE_BLUE,
    PALE_ORANGE,
    PALETTE,
    SMALL,
    cell_colours,
    ink_on,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..models.block_comparison import Comparison
    from ..models.training_bugs import Recorded


def batch(inputs: Sequence[Sequence[str]], targets: Sequence[Sequence[str]]) -> Figure:
    """Windows of a text, one token per box: a row of inputs, and its targets below."""
    tokens = [token for window in (*inputs, *targets) for token in window]
    length, wide = len(inputs[0]), 0.28 + 0.11 * max(map(len, tokens))  # inches of a box
    figure, (ax,) = row(1, width=1.1 + wide * length, height=0.3 + 0.72 * len(inputs))
    for i, window in enumerate(zip(inputs, targets, strict=True)):
        for j, row_of_tokens in enumerate(window):
            y = 2.4 * i + j
            ax.text(-0.6, y, ("inputs", "targets")[j], ha="right", va="center", fontsize=SMALL)
            for t, token in enumerate(row_of_tokens):
                cell(ax, t, y, (0.94, 0.94), facecolor=(PALE_BLUE, PALE_ORANGE)[j])
                write(ax, t, y, _visible(token), family=MONO, fontsize=SMALL)
    ax.set(xlim=(-0.7 - 0.9 / wide, length - 0.4), ylim=(2.4 * len(inputs) - 0.9, -0.7))
    ax.axis("off")
    details = "; ".join(f"{_text(a)!r} above {_text(b)!r}" for a, b in zip(inputs, targets, strict=True))
    return with_alt_text(figure, f"{len(inputs)} windows of text, each with its targets one token further: {details}.")


def surprise(tokens: Sequence[str], rows: Mapping[str, torch.Tensor]) -> Figure:
    """Bars over the tokens of a text: their surprise in nats, one row per title."""
    figure, panels = grid(len(rows), 1, width=9.6, height=1.35, above=0.5)
    top = max(float(values.max()) for values in rows.values())
    for ax, (title, values) in zip(panels, rows.items(), strict=True):
        ax.bar(range(len(tokens)), values.tolist(), color=PALETTE[0], width=0.8)
        ax.set_xticks(range(len(tokens)), [""] * len(tokens))
        ax.tick_params(axis="x", length=0)
        ax.set(xlim=(-0.7, len(tokens) - 0.3), ylim=(0, 1.08 * top), ylabel="nats")
        ax.set_title(f"{title}: {values.mean():.2f} on average", loc="left")
    names = [_visible(token) for token in tokens]
    panels[-1].set_xticks(range(len(tokens)), names, family=MONO, rotation=45, ha="right", rotation_mode="anchor")
    details = "; ".join(
        f"{title}: {v.mean():.2f} on average, greatest at {tokens[int(v.argmax())]!r} with {v.max():.1f}"
        for title, v in rows.items()
    )
    return with_alt_text(figure, f"Bars of surprise over the tokens of {_text(tokens)!r}. {details}.")


def block() -> Figure:
    """A pre-norm transformer block: the residual stream of X, and two branches."""
    figure, (ax,) = row(1, width=9.2, height=2.4)
    look: dict[str, Any] = {"width": 1.4, "gap": 2}
    arrow(ax, (0.1, 0), (12.3, 0), **look)
    ax.text(-0.1, 0, r"$\mathbf{X}$", ha="right", va="center", fontsize=13)
    ax.text(12.4, 0, "result", ha="left", va="center")
    first, second = (("norm_1", "attention"), ("norm_2", "mlp"))
    for left, parts in ((0.8, first), (6.8, second)):
        ax.plot([left, left], [0, 1.5], color=INK, linewidth=1.4)
        arrow(ax, (left - 0.02, 1.5), (left + 0.5, 1.5), **look)
        for i, part in enumerate(parts):
            x = left + 1.4 + 2.3 * i
            rounded(ax, x, 1.5, (1.7, 0.76), "pad=0.04", facecolor=PALE_BLUE, edgecolor=PALETTE[0], linewidth=1.2)
            write(ax, x, 1.5, part, fontsize=10)
        arrow(ax, (left + 2.3, 1.5), (left + 2.8, 1.5), **look)
        ax.plot([left + 4.6, left + 5.0], [1.5, 1.5], color=INK, linewidth=1.4)
        arrow(ax, (left + 5.0, 1.5), (left + 5.0, 0.24), **look)
        ax.plot(left + 5.0, 0, "o", markersize=17, markerfacecolor="white", markeredgecolor=INK)
        write(ax, left + 5.0, -0.01, "+", fontsize=14)
    ax.set(xlim=(-0.6, 13.6), ylim=(-0.5, 2.1))
    ax.axis("off")
    return with_alt_text(
        figure,
        "A straight arrow leads from X to the result. Twice a detour branches off and is added to it again: first "
        f"through {first[0]} and {first[1]}, then through {second[0]} and {second[1]}.",
        "A block. Its input goes straight through; attention and MLP each read it and add their result.",
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
            heat_map(
                weights,
                ax=ax,
                part="weights",
                rows=signs if h == 0 else None,
                columns=signs,
                blocked=never_seen(weights),
                title=title,
            )
        else:
            image = _bare_map(ax, weights, signs, size=8)
            ax.set_title(title, pad=4)
        ax.set_ylabel("" if h else "queries")
    for ax in panels[-count:]:
        ax.set_xlabel("keys")
    if not small:
        figure.colorbar(image, ax=panels, fraction=0.02, pad=0.01)
    details = "; ".join(f"{title}: {', '.join(map(_habit, maps))}" for title, maps in rows.items())
    over = _text(letters)
    return with_alt_text(figure, f"Attention maps of {count} head{'s' * (count > 1)} over {over!r}. {details}.")


def page(pieces: Sequence[str], surprise: torch.Tensor, title: str = "", width: int = 60) -> Figure:
    """A text in pieces, one per token, on a background that is darker for tokens that surprised the model more.

    A piece may begin with a space or a line break. `surprise` is (len(pieces),), in nats; pieces of more than 3 nats
    are also underlined.
    """
    from matplotlib.patches import Rectangle

    placed, x, y = [], 0, 0
    for piece, nats in zip(pieces, surprise.tolist(), strict=True):
        shown = _visible(piece) if piece == "\n" else piece.lstrip("\n")
        if (x and x + len(shown) > width) or (piece.startswith("\n") and piece != "\n"):
            x, y = 0, y + 1
        shown = shown if x else shown.lstrip(" ")
        placed.append((shown, x, y, nats))
        x += len(shown)
        if piece == "\n":
            x, y = 0, y + 1
    lines = placed[-1][2] + 1 if placed else 1
    heading = fill(title, width)
    figure, (ax,) = row(1, width=0.13 * width + 0.3, height=0.32 * lines + 0.2 + 0.2 * len(heading.splitlines()))
    colours = cell_colours("amounts")
    for shown, left, line, nats in placed:
        blanks = len(shown) - len(shown.lstrip(" "))
        ground = colours(min(nats, 6.0) / 8)
        ax.add_patch(Rectangle((left + blanks, line + 0.04), len(shown) - blanks, 0.92, facecolor=ground, linewidth=0))
        for i, letter in enumerate(shown):
            where = (left + i + 0.5, line + 0.5)
            write(ax, *where, letter, family=MONO, fontsize=12, color=ink_on(ground))
        if nats > 3:
            ax.plot([left + blanks, left + len(shown)], [line + 0.93] * 2, color=INK, linewidth=1.2)
    ax.set(xlim=(0, width), ylim=(lines, 0))
    ax.set_title(heading, loc="left")
    ax.axis("off")
    named, text = (" ".join(words.split()) for words in (title, "".join(pieces)))
    return with_alt_text(
        figure,
        f"{named}: {text!r}, {float(surprise.mean()):.2f} nats of surprise per token.",
        "The darker a token, the more surprised the model was by it. More than 3 nats are underlined.",
    )


def comparison(recorded: Comparison) -> Figure:
    """Recorded held-out losses: of plain and modern blocks against CPU seconds, and of all kinds at the end."""
    figure, (left, right) = row(2, width=4.8, height=3.5)
    for look, name in enumerate(("plain", "modern")):
        kind = recorded.kinds[name]
        seconds = [step * kind.seconds_per_step for step, _ in kind.curves[0]]
        for curve in kind.curves:
            left.plot(seconds, [loss for _, loss in curve], color=PALETTE[look], linewidth=0.8, alpha=0.6)
        mean = torch.tensor([[loss for _, loss in curve] for curve in kind.curves]).mean(0)
        style: dict[str, Any] = {"linestyle": LINES[look], "marker": MARKERS[look], "markersize": 4.5}
        left.plot(seconds, mean.tolist(), color=PALETTE[look], linewidth=1.8, label=name, **style)
    left.grid(color=LIGHT, linewidth=0.6)
    left.set(xlabel="CPU seconds", ylabel="held-out loss in nats", ylim=(0, None))
    left.legend(frameon=False, fontsize=SMALL)
    names = list(recorded.kinds)
    for y, name in enumerate(names):
        kind = recorded.kinds[name]
        right.plot(kind.losses, [y] * len(kind.losses), "o", color=PALETTE[0], markersize=5, alpha=0.8)
        right.plot([kind.mean] * 2, [y - 0.3, y + 0.3], color=INK, linewidth=2.0)
    right.axvline(recorded.kinds["plain"].mean, color=GREY, linewidth=1.1, linestyle=":")
    right.set_yticks(range(len(names)), [name if name in ("plain", "modern") else f"plain, {name}" for name in names])
    right.set(xlabel="held-out loss in nats", ylim=(len(names) - 0.5, -0.5))
    right.grid(axis="x", color=LIGHT, linewidth=0.6)
    details = "; ".join(
        f"{name} {kind.mean:.2f} (from {min(kind.losses):.2f} to {max(kind.losses):.2f}, {kind.steps} steps)"
        for name, kind in recorded.kinds.items()
    )
    return with_alt_text(
        figure,
        f"Left, held-out loss against CPU seconds of plain and modern blocks, {len(recorded.seeds)} seeds each. "
        f"Right, the losses after {recorded.seconds:.0f} CPU seconds, mean and range: {details}.",
        f"{recorded.title} Left: held-out loss while training, thin lines are seeds, thick lines means. Right: after "
        f"{recorded.seconds:.0f} CPU seconds, points are seeds, bars are means; dotted: the plain mean.",
    )


def training_bugs(recorded: Recorded) -> Figure:
    """The recorded losses of trainings with a bug, one panel each, beside those without a bug."""
    figure, panels = grid(len(recorded.runs), 3, width=3.3, height=2.4)
    top = 1.2 * max(recorded.baselines.values())
    for place, (ax, (bug, run)) in enumerate(zip(panels, recorded.runs.items(), strict=True)):
        ends = f"{run.training[1][-1]:.2f}, held out {run.held_out[1][-1]:.2f}"
        losses(
            {"training": run.training, "held out": run.held_out},
            ax=ax,
            names="none",
            ylabel="" if place % 3 else "loss in nats",
            title=f"{place + 1}. {bug}\n{ends}",
            top=top,
        )
        ax.plot(*recorded.right.training, color=GREY, linestyle=LINES[1], linewidth=1.3, zorder=1, label="no bug")
        ax.set_xlabel("step" if place >= len(panels) - 3 else "")
        for name, height in recorded.baselines.items():
            level(ax, height, "" if place else name, below=name == "bigram")
    figure.legend(
        *panels[0].get_legend_handles_labels(), loc="outside upper left", ncols=3, frameon=False, fontsize=SMALL
    )
    found = "; ".join(
        f"{bug}: {in_words({'training': run.training, 'held out': run.held_out})}" for bug, run in recorded.runs.items()
    )
    right = in_words({"training": recorded.right.training})
    return with_alt_text(
        figure,
        f"{len(panels)} panels of loss against step. {found}. Without a bug: {right}.",
        f"Recorded on {recorded.date}. Above each panel: the training loss at the end, and the held-out loss. Dotted: "
        f"the baselines of lesson 8. Losses above {top:.0f} are cut off.",
    )


def _text(tokens: Sequence[str]) -> str:
    """The text of letters, or of words that do not hold their spaces."""
    return ("" if max(map(len, tokens)) == 1 else " ").join(tokens)


def _bare_map(ax: Axes, weights: torch.Tensor, signs: list[str], size: float = 7) -> Any:
    from matplotlib.patches import Polygon

    image = ax.imshow(
        weights.detach().cpu().numpy(), cmap=cell_colours("weights"), vmin=0, vmax=1, interpolation="none"
    )
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_ticks(range(len(signs)), signs, fontsize=size, family=MONO)
    ax.tick_params(length=0, labeltop=True, labelbottom=False, pad=1)
    ax.spines[:].set_visible(False)
    count = len(signs)
    if never_seen(weights) is not None:
        steps = [(c - 0.5, r - 0.5) for i in range(1, count) for c, r in ((i, i - 1), (i, i))]
        corner = (count - 0.5, -0.5)
        look: dict[str, Any] = {"facecolor": PALE, "edgecolor": FAINT, "hatch": "///", "linewidth": 0}
        ax.add_patch(Polygon([*steps, (count - 0.5, count - 1.5), corner], **look))
    frame(ax, "weights", (-0.5, -0.5, count, count))
    return image


def _habit(weights: torch.Tensor) -> str:
    """Describe a head: mean weight on the letter itself, and on the one before."""
    itself, before = weights.diagonal().mean(), weights.diagonal(-1).mean()
    return f"{itself:.2f} on itself, {before:.2f} on the one before"


def _visible(letter: str) -> str:
    return {" ": "␣", "\n": "¶"}.get(letter, letter)
