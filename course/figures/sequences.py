"""Figures of lesson 12: attention to a source, a search tree, weights on an image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log
from typing import TYPE_CHECKING, Any

import torch

from .base import grid, row, with_alt_text, with_caption
from .lines import Curve, curves, losses
from .panels import heat_map
from .shapes import cell, write
from .style import BLACK, FAINT, GREY, PALE_BLUE, PALE_ORANGE, PALETTE, SMALL, cell_colours, ink_on

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Tokens so far, their sum of log-probabilities, and "kept", "ended" or "dropped"
Branch = tuple[Sequence[str], float, str]


def unshifted(teacher: Curve, without: Curve, n_words: int) -> Figure:
    """The losses with teacher forcing and with targets that are not shifted, among `n_words` words."""
    runs = {"teacher forcing": teacher, "targets not shifted": without}
    return with_caption(
        losses(runs, {f"guessing, ln {n_words}": log(n_words)}, every=5), "Mean cross-entropy per word of Oru, in nats."
    )


def by_length(right: Mapping[str, torch.Tensor], lengths: torch.Tensor) -> Figure:
    """The share of right sentences by the words in their source: 0 or 1 and the length of each sentence, (B,)."""
    groups = [(5, 7), (8, 10), (11, 13), (14, 18)]
    shares = {
        name: [float(share[(lengths >= low) & (lengths <= high)].mean()) for low, high in groups]
        for name, share in right.items()
    }
    label = "share of correct sentences"
    ax = curves(range(4), shares, names="legend", limits=(0, 1.05), xlabel="words in the source", ylabel=label)
    ax.set_xticks(range(4), [f"{low} to {high}" for low, high in groups])
    details = ". ".join(f"{name}: {', '.join(f'{share:.2f}' for share in line)}" for name, line in shares.items())
    return with_alt_text(
        ax,
        f"The share of correct sentences for sources of 5 to 7, 8 to 10, 11 to 13 and 14 to 18 words. {details}.",
        f"{len(lengths)} unseen sentences, with teacher forcing.",
    )


def at_moment(
    seen: Mapping[int, tuple[torch.Tensor, Any]],
    targets: Sequence[str],
    source: Sequence[str],
    true: Sequence[int],
    *,
    moment: int,
) -> Figure:
    """The `alignment` at one of the moments of training that were kept: `seen` has weights (T, S) by step."""
    after = sorted(seen)[moment]
    return with_caption(
        alignment(seen[after][0], targets, source, true, f"after {after} steps"),
        "Rows: the word of Oru to be predicted. Columns: the words of the source. Frames: the true alignment.",
    )


def by_position(shares: Mapping[str, torch.Tensor], steps: int) -> Figure:
    """The share of right words (T,) at the first 14 positions, with teacher forcing and in free running."""
    shown = {name: share[:14] for name, share in shares.items()}
    label = "share of correct words"
    return with_alt_text(
        curves(range(14), shown, names="legend", limits=(0, 1.05), xlabel="position in the target", ylabel=label),
        "Two curves over the position of a word: the share of correct words with teacher forcing and in free running. "
        "At position 0 they are equal; further on, free running is below.",
        f"A model after {steps} steps, 100 unseen sentences.",
    )


def two_beams() -> Figure:
    """The `tree` of a beam search of width 2 in the lesson's table, for two lengths."""
    first = [(("begin", "1"), -0.69, "kept"), (("begin", "2"), -0.92, "kept"), (("begin", "end"), -2.30, "dropped")]
    second = [
        (("begin", "1", "0"), -1.90, "kept"),
        (("begin", "1", "end"), -2.08, "dropped"),
        (("begin", "1", "2"), -2.08, "dropped"),
        (("begin", "2", "end"), -1.02, "ended"),
        (("begin", "2", "1"), -4.14, "dropped"),
    ]
    return with_caption(
        tree([first, second]),
        "Sequences from the table, by length. Filled: kept. Dashed, with a square: kept and finished. White: dropped "
        "(some are left out).",
    )


def alignment(
    weights: torch.Tensor, targets: Sequence[str], source: Sequence[str], true: Sequence[int], title: str = ""
) -> Figure:
    """Weights (T, S) of targets on source words, with the `true` ones (T,) framed."""

    figure, (ax,) = row(1, width=1.6 + 0.62 * len(source), height=1.3 + 0.42 * len(targets))
    heat_map(weights, ax=ax, part="weights", rows=targets, columns=source, title=title, numbers=True)
    for t, s in enumerate(true):
        if s >= 0:
            cell(ax, s, t, (0.92, 0.92), fill=False, edgecolor=PALETTE[1], linewidth=2.2)
    looks = [source[int(s)] for s in weights.argmax(-1)]
    details = ", ".join(f"{target} looks most at {word}" for target, word in zip(targets, looks, strict=True))
    return with_alt_text(figure, f"Weights of {len(targets)} targets on {len(source)} source words. {details}.")


def padding(source: torch.Tensor, targets: torch.Tensor, words: Sequence[str], said: Sequence[str]) -> Figure:
    """A batch of sentences (B, S) and translations (B, T) as words, padding hatched."""
    longest = max(source.shape[1], targets.shape[1])
    figure, axes = grid(2, 1, width=0.7 * longest, height=0.6 + 0.34 * len(source))
    for ax, ids, names, title in ((axes[0], source, words, "source"), (axes[1], targets, said, "targets")):
        rows, columns = ids.shape
        heat_map(torch.zeros(rows, columns), ax=ax, kind="scores", limit=1.0, numbers=False, blocked=ids == 0)
        image: Any = ax.images[0]
        image.colorbar.remove()  # the map has no numbers
        for (r, c), i in zip(torch.cartesian_prod(torch.arange(rows), torch.arange(columns)).tolist(), ids.flatten()):
            if i:
                write(ax, c, r, names[int(i)], fontsize=SMALL, color=BLACK)
        ax.set_aspect("auto")
        ax.set_xlim(-0.5, longest - 0.5)  # both have cells of one width
        ax.set_title(f"{title} ({rows}, {columns})")
    words_ = ", ".join(f"{int((a != 0).sum())} and {int((b != 0).sum())}" for a, b in zip(source, targets, strict=True))
    return with_alt_text(
        figure,
        f"Sentences and translations of different lengths, filled up with hatched cells: {words_}.",
        "Four English sentences (source) and their translations (targets), one per row. Hatched: padding.",
    )


def tree(levels: Sequence[Sequence[Branch]], title: str = "") -> Figure:
    """A search by length: each branch with its sum, dropped branches in grey."""
    height = max(map(len, levels))
    figure, (ax,) = row(1, width=2.15 * (len(levels) + 1), height=1.0 + 0.42 * height)
    looks = {
        "kept": {"facecolor": PALE_BLUE, "edgecolor": PALETTE[0]},
        "ended": {"facecolor": PALE_ORANGE, "edgecolor": PALETTE[1], "linestyle": "--"},
        "dropped": {"facecolor": "white", "edgecolor": FAINT},
    }
    places: dict[tuple[str, ...], tuple[float, float]] = {tuple(levels[0][0][0][:1]): (0.0, (height - 1) / 2)}
    _box(ax, levels[0][0][0][0], *next(iter(places.values())), looks["kept"], "black")
    for column, branches in enumerate(levels, 1):
        gap = (height - len(branches)) / 2
        for line, (tokens, total, fate) in enumerate(branches):
            x, y = float(column), gap + line
            before = places[tuple(tokens[:-1])]
            ax.plot((before[0] + 0.1, x - 0.12), (before[1], y), color=FAINT if fate == "dropped" else GREY, zorder=0)
            mark = {"kept": "", "ended": " ■", "dropped": ""}[fate]
            text = f"{tokens[-1]}  {total:.2f}{mark}".replace("-", "−")
            _box(ax, text, x, y, looks[fate], GREY if fate == "dropped" else "black")
            places[tuple(tokens)] = (x, y)
    ax.set(xlim=(-0.4, len(levels) + 0.5), ylim=(height - 0.4, -0.6))
    ax.axis("off")
    ax.set_title(title)
    kept = [
        f"length {n}: " + ", ".join(f"{' '.join(tokens)} ({total:.2f}, {fate})" for tokens, total, fate in branches)
        for n, branches in enumerate(levels, 1)
    ]
    return with_alt_text(figure, "A tree of sequences with their sums of log-probabilities. " + "; ".join(kept) + ".")


def _box(ax: Axes, text: str, x: float, y: float, look: dict[str, str], colour: str) -> None:
    write(ax, x, y, text, fontsize=SMALL, color=colour, bbox={"boxstyle": "round,pad=0.3", **look})


def one_reading(images: torch.Tensor, ids: torch.Tensor, weights: torch.Tensor, signs: Sequence[str]) -> Figure:
    """The picture of an image with three different signs, and where the reader looked: `over_pictures`.

    images (B, 1, 12, 12), ids (B, 4) of `signs`, weights (B, H, 4, 9)
    """
    i = next(i for i, row_of_ids in enumerate(ids.tolist()) if len(set(row_of_ids)) == 4)
    return over_pictures(images[i, 0], weights[i, 0, :3], [signs[sign] for sign in ids[i, :3].tolist()], 4)


def over_pictures(image: torch.Tensor, weights: torch.Tensor, words: Sequence[str], size: int) -> Figure:
    """An image (H, W), and for each word the image under its weights (T, squares).

    Squares are numbered row by row.
    """
    height, width = image.shape
    figure, axes = grid(1 + len(words), 1 + len(words), width=1.9, height=2.2)
    maps = weights.reshape(len(words), height // size, width // size)
    spread = maps.repeat_interleave(size, 1).repeat_interleave(size, 2).detach()
    for ax, title, weight in zip(axes, ["the picture", *words], [None, *spread], strict=True):
        if weight is None:
            ax.imshow(image, cmap=cell_colours("amounts"), vmin=0, vmax=1.3, interpolation="none")
        else:
            ax.imshow(_shaded(image, weight), interpolation="none")
        ax.set_xticks([i * size - 0.5 for i in range(1, width // size)], [])
        ax.set_yticks([i * size - 0.5 for i in range(1, height // size)], [])
        ax.grid(color=GREY, linewidth=0.8)
        ax.tick_params(length=0)
        ax.set_title(title)
    looks = [divmod(int(where), width // size) for where in weights.argmax(-1)]
    details = ", ".join(f"{word}: row {r}, column {c}" for word, (r, c) in zip(words, looks, strict=True))
    return with_alt_text(
        figure,
        f"A picture cut into squares, and where each word looks most, counted from 0. {details}.",
        "An unseen image, and the weights of its nine patches for each sign; dark is high.",
    )


def _shaded(image: torch.Tensor, weights: torch.Tensor) -> Any:
    """Colours (H, W, 3) of an image's strokes on the colours of weights (H, W), in black or in white, by contrast."""
    from matplotlib.colors import to_rgb

    grounds = cell_colours("weights")(weights.detach().numpy())
    inks = torch.tensor([[to_rgb(ink_on(tuple(ground))) for ground in line] for line in grounds])
    strokes = ((image.detach().float() - 0.2) / 0.8).clamp(0, 1)  # without the noise
    share = ((0.25 + 0.6 * weights.detach()) * strokes)[..., None]  # an unattended patch is lightest
    return ((1 - share) * torch.tensor(grounds[..., :3]).float() + share * inks).numpy()
