"""Figures of lesson 13: sizes of caches, masks with sinks, pages that texts share, and layers with latent vectors.

All have alt text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import torch

from .base import row, with_alt_text
from .lines import curves
from .masks import tables, weights
from .panels import bars, heat_map
from .shapes import arrow, cell, rounded, write
from .style import FAINT, GREY, HATCHES, INK, PALE, SMALL, colour, ink_on

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Function = Callable[..., torch.Tensor]


def per_token(sizes: Mapping[str, float]) -> Figure:
    """The bytes that caches take per token, in KiB; each name is "model, form"."""
    kib = {name: size / 2**10 for name, size in sizes.items()}
    ax = row(1, width=7.4, height=3.2)[1][0]
    names = [name.replace(", ", "\n") for name in kib]
    bars(list(kib.values()), names, ax=ax, part="k", title="KiB per token, two bytes per number")
    details = "; ".join(f"{name}, {size:.0f}" for name, size in kib.items())
    return with_alt_text(ax, f"Four bars of KiB per token: {details}.")


def capped(soft_cap: Function) -> Figure:
    """Scores from -150 to 150, and after `soft_cap(scores, cap)` with two caps."""
    raw = torch.linspace(-150, 150, 61)
    ys = {"as they are": raw.clamp(-80, 80), "cap 50": soft_cap(raw, 50.0), "cap 20": soft_cap(raw, 20.0)}
    return with_alt_text(
        curves(raw, ys, xlabel="score", ylabel="after soft-capping", names="legend"),
        "Three curves. One rises in a straight line between minus 80 and 80, where it is cut off; the two others "
        "follow it near 0 and then bend to a level line, at plus and minus 50, and at plus and minus 20.",
        "The straight line is cut off at 80.",
    )


def sinks(sink_mask: Function) -> Figure:
    """The masks of a window of three over seven positions, by `sink_mask(T, window, sinks)`."""
    return with_alt_text(
        tables({f"{n} sinks": sink_mask(7, 3, n) for n in (0, 1, 2)}),
        "Three tables of ticks and crosses, seven by seven. No sinks: a band of three ticks along the diagonal. One "
        "sink: the first column is ticked as well. Two sinks: the first two columns, from the diagonal on.",
        "✓ may be seen, ✗ is blocked.",
    )


def head_with_sink(panels: Mapping[str, tuple[torch.Tensor, torch.Tensor]]) -> Figure:
    """The weights and the mask (24, 24) of a head without and with a sink."""
    return with_alt_text(
        weights(panels, per_row=2, cell=0.16),
        "Two maps of 24 by 24 weights. Without sinks, the first eight rows have nearly all weight on key 0; below, key "
        "0 is hatched and the weight is spread along the window. With one sink, column 0 is dark in all rows.",
        "Hatched: blocked.",
    )


def streams(losses: Mapping[str, Sequence[float]]) -> Figure:
    """The loss at five stretches of a text of 320 tokens, for three ways to bound the cache."""
    return with_alt_text(
        curves([48, 80, 112, 192, 288], losses, names="legend", xlabel="position", ylabel="loss, in nats"),
        "Three curves of the loss over the position. All positions: it rises from 0.6 to above 5 nats after position "
        "96. A window of 64 without sinks: it stays near 0.6. With 4 sinks at their true positions: it rises to about "
        "1.",
        "The course's model; texts of 320 tokens.",
    )


def outliers(keys: torch.Tensor, values: torch.Tensor) -> Figure:
    """The absolute values of the keys and values (T, K) of a head, at its first 24 positions."""
    figure, axes = row(2, width=4.6, height=3.4)
    for ax, name, cells in zip(axes, ("keys", "values"), (keys, values), strict=True):
        title = f"{name}, head 0 of layer 1"
        heat_map(cells[:24].abs(), ax=ax, part=name[0], kind="amounts", title=title, limit=8.0, numbers=False)
        ax.set(xlabel="channel", ylabel="position")
    return with_alt_text(
        figure,
        "Two maps of absolute values, 24 positions by 24 channels. The keys have dark vertical stripes: a few channels "
        "are large at almost all positions. The values have no such stripes.",
        "Absolute values before the rotation.",
    )


def patterns() -> Figure:
    """Three patterns of sparse attention over twelve positions."""
    positions = torch.arange(12)
    back = positions[:, None] - positions
    masks = {
        "window": (back < 0) | (back >= 4),
        "window and every fourth": (back < 0) | ((back >= 3) & (positions % 4 != 3)),
        "window and a chosen block": (back < 0) | ((back >= 4) & (positions // 4 != 0)),
    }
    return with_alt_text(
        tables(masks),
        "Three causal tables of ticks and crosses, twelve by twelve. A window: a band along the diagonal. Window and "
        "every fourth: a band and single columns. Window and a chosen block: a band and the first four columns.",
        "✓ is read, ✗ is skipped.",
    )


def kept_per_layer() -> Figure:
    """The memory that a layer keeps as the text grows, in KiB, for four kinds of attention."""
    lengths = [2**n for n in range(4, 18)]
    kept = {
        "8 groups": [2 * 8 * 128 * 2 * n / 2**10 for n in lengths],
        "latent": [576 * 2 * n / 2**10 for n in lengths],
        "window of 1,024": [2 * 8 * 128 * 2 * min(n, 1024) / 2**10 for n in lengths],
        "state of 32 heads": [32 * 128 * 128 * 2 / 2**10] * len(lengths),
    }
    return with_alt_text(
        curves(lengths, kept, xlabel="tokens", ylabel="KiB in one layer", log="both", names="legend"),
        "Four curves on logarithmic scales. The caches with 8 groups and with latent vectors rise with the number of "
        "tokens. The window's rises to 1,024 tokens and is level after that. The state of linear attention is level "
        "from the start.",
        "Heads are 128 wide, two bytes per number.",
    )


def experts() -> Figure:
    """The parameters of two models with experts, in all and used for one token."""
    ax = row(1, width=7.4, height=3.0)[1][0]
    names = [f"{model}\n{which}" for model in ("Mixtral 8x7B", "DeepSeek-V3") for which in ("in all", "per token")]
    bars([46.7, 12.9, 671.0, 37.0], names, ax=ax, title="billions of parameters")
    return with_alt_text(
        ax,
        "Four bars, billions of parameters. Mixtral 8x7B: 46.7 in all, 12.9 per token. DeepSeek-V3: 671 in all, 37 per "
        "token.",
        "Mixtral: Mistral AI's announcement (December 2023). DeepSeek-V3: report (arXiv 2412.19437, December 2024).",
    )


def pages(texts: Mapping[str, tuple[Sequence[int], int]], n_pages: int, page_size: int) -> Figure:
    """A pool of pages, one column per page; `texts` has the block table and the length of each text.

    A cell has the position that is kept there. Pages that several texts have are hatched.
    """
    from matplotlib.colors import to_rgba

    figure, (ax,) = row(1, width=1.0 * n_pages + 0.8, height=0.42 * page_size + 1.1)
    described = []
    for page in range(n_pages):
        owners = [name for name, (table, _) in texts.items() if page in table]
        positions = [-1] * page_size
        for table, length in texts.values():
            if page in table:
                first = list(table).index(page) * page_size
                positions = [max(old, first + r if first + r < length else -1) for r, old in enumerate(positions)]
        for r, position in enumerate(positions):
            used = bool(owners) and position >= 0
            ground = colour("k") if used and len(owners) == 1 else PALE
            box = cell(ax, page, r, (0.88, 0.88), facecolor=ground, edgecolor=INK if used else FAINT)
            if used and len(owners) > 1:
                box.set(hatch=HATCHES[1], edgecolor=colour("k"))
            text = str(position) if used else ""
            ink = ink_on(to_rgba(ground)) if len(owners) == 1 else INK
            patch = {"facecolor": PALE, "edgecolor": "none", "pad": 1} if len(owners) > 1 and text else None
            write(ax, page, r, text, fontsize=SMALL, color=ink, bbox=patch)
        name = ", ".join(owners) or "free"
        ax.text(page, page_size - 0.3, name, ha="center", va="top", fontsize=SMALL, color=INK if owners else GREY)
        kept = [p for p in positions if p >= 0] if owners else []
        described.append(f"page {page}: {name}" + (f", positions {kept[0]} to {kept[-1]}" if kept else ""))
    ax.set(xlim=(-0.6, n_pages - 0.4), ylim=(page_size + 0.3, -0.6), ylabel="row")
    ax.set_xticks(range(n_pages), [f"page {page}" for page in range(n_pages)])
    ax.xaxis.tick_top()
    ax.set_yticks(range(page_size))
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return with_alt_text(figure, f"A pool of {n_pages} pages with {page_size} rows each. {'; '.join(described)}.")


def latent_layer(absorbed: bool = False) -> Figure:
    """Which vectors a layer with latent vectors keeps, and which it computes again; or its absorbed form."""
    figure, (ax,) = row(1, width=8.4, height=2.9)
    boxes = [
        ("input x", 0.0, 1.5, "x", False),
        ("latent c\n(kept)", 2.2, 2.3, "k", True),
        ("rotated key\n(kept)", 2.2, 0.7, "k", True),
    ]
    if absorbed:
        boxes += [
            ("query\ntimes W_k", 4.7, 3.0, "q", False),
            ("scores with c", 6.9, 2.3, "scores", False),
            ("mixed c,\nthen W_v", 9.1, 2.3, "v", False),
        ]
        arrows = [(0, 1), (0, 2), (3, 4), (1, 4), (2, 4), (4, 5)]
    else:
        boxes += [
            ("keys of\nall heads", 4.9, 1.75, "k", False),
            ("values of\nall heads", 4.9, 3.0, "v", False),
            ("scores", 7.3, 1.3, "scores", False),
            ("output", 9.3, 2.3, "output", False),
        ]
        arrows = [(0, 1), (0, 2), (1, 3), (1, 4), (3, 5), (2, 5), (5, 6), (4, 6)]
    for text, x, y, part, kept in boxes:
        look = {"facecolor": PALE, "edgecolor": colour(part), "linewidth": 3.0 if kept else 1.4}
        rounded(ax, x, y, (1.44, 0.6), "pad=0.1", **look)
        write(ax, x, y, text, fontsize=SMALL, color=INK)
    for begin, end in arrows:
        (_, x0, y0, *_), (_, x1, y1, *_) = boxes[begin], boxes[end]
        arrow(ax, (x0 + 0.84, y0), (x1 - 0.84, y1), colour=GREY, width=1.0, gap=2)
    ax.set(xlim=(-1.0, 10.4), ylim=(0.1, 3.6))
    ax.axis("off")
    way = (
        "The query is multiplied by W_k and scored against the latent vector; W_v is applied to the mixed latents."
        if absorbed
        else "All heads' keys and values are computed from the latent vector, then scores and output."
    )
    return with_alt_text(
        figure,
        f"From the input, a latent vector and a rotated key are computed; both are kept (thick frames). {way}",
        ("No head's keys and values are made. " if absorbed else "") + "Thick frames: what the cache holds.",
    )
