"""Figures of lesson 09: rows of a cache, levels of memory, a roofline, and the time of one step.

All have alt text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch

from ..models.right_functions.lesson_05 import causal_mask, last_queries_mask
from .base import row, with_alt_text, with_caption, with_choices
from .diagram import overview
from .lines import curves
from .masks import tables, weights
from .panels import bars
from .shapes import cell, write
from .style import FAINT, GREY, GROUND, HATCHES, INK, LIGHT, PALE, PALETTE, SMALL, colour, ink_on

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..models.small_lm import SmallLM

Function = Callable[..., Any]
# Name, bytes per second in TB, size
LEVELS = (
    ("memory on the chip", 19.0, "20 MB"),
    ("the GPU's memory (HBM)", 1.5, "40 GB"),
    ("the computer's memory", 0.0128, "over 1,000 GB"),
)
H100 = (989.0, 3.35)  # operations and bytes per second, in trillions


def multiplications(written: Iterable[int], without: torch.Tensor, cached: torch.Tensor) -> Figure:
    """Multiplications (N,) for the next token after `written` ones, without a cache and with one."""
    ax = curves(
        written,
        {"without a cache": without, "with a cache": cached},
        xlabel="tokens so far, $n$",
        ylabel="multiplications",
        title="for the next token, one layer of width 512",
        log="y",
        names="legend",
    )
    return with_alt_text(
        ax,
        "Two curves over the number of tokens so far, on a logarithmic scale. Without a cache: from one million to two "
        "billion. With a cache: from one million to two million.",
        "The scale is logarithmic.",
    )


@with_choices(
    conversations=[1, 4, 16, 64],
    tokens=[1024, 4096, 32768, 131072],
    strip=[{"conversations": c, "tokens": n} for c, n in ((1, 4096), (16, 4096), (1, 131072))],
)
def of_conversations(bytes_of: Function, *, conversations: int, tokens: int) -> Figure:
    """The caches of a model with 32 layers and heads of width 128, in GB, for three numbers of heads.

    bytes_of  (layers, heads, width, tokens, conversations) -> bytes
    """
    sizes = {f"{G} heads" if G > 1 else "1 head": bytes_of(32, G, 128, tokens, conversations) / 1e9 for G in (32, 8, 1)}
    ax = bars(list(sizes.values()), list(sizes), title=f"GB, {conversations} × {tokens:,} tokens")
    details = ", ".join(f"{size:.3g} with {name}" for name, size in sizes.items())
    return with_alt_text(ax, f"Three bars, the caches in GB: {details}.")


def prefill(attend: Function, *qkv: torch.Tensor) -> Figure:
    """The weights of a prefill of seven tokens, and of the five that follow.

    qkv     queries, keys and values (B, H, T, K) of at least 12 tokens
    attend  (q, k, v, cache) -> output, weights, cache
    """
    cache, panels = None, {}
    for start, size in ((0, 7), (7, 1), (8, 1), (9, 3)):
        _, found, cache = attend(*(x[:1, :1, start : start + size] for x in qkv), cache)
        panels[f"{size} new, {start} in the cache"] = (found[0, 0], last_queries_mask(size, start + size))
    return with_alt_text(
        weights(panels, per_row=2, cell=0.36, stairs=True),
        "Four maps of weights. Seven new tokens: a triangle of seven rows. One new token, seven in the cache: one row "
        "of eight. One more: a row of nine. Three at once, nine in the cache: three rows of twelve, with a small "
        "triangle at their end. Future keys are hatched.",
        "Each piece adds rows of one large triangle. Hatched cells: blocked.",
    )


def measured(lengths: Sequence[int], times: Mapping[str, Sequence[float]]) -> Figure:
    """Measured milliseconds for the next token against the tokens so far, without and with a cache."""
    without, cached = times.values()
    return with_alt_text(
        curves(lengths, times, xlabel="tokens so far", ylabel="milliseconds", names="legend"),
        f"Two measured curves over the tokens so far, 32 to 512. Without a cache: from {without[0]:.1f} to "
        f"{without[-1]:.1f} milliseconds. With a cache: from {cached[0]:.1f} to {cached[-1]:.1f}.",
    )


def windows(window_mask: Function, words: Sequence[str]) -> Figure:
    """The masks of three windows over six words, by `window_mask(T, window)`."""
    return with_alt_text(
        tables({f"window {w}": window_mask(6, w) for w in (1, 3, 6)}, words),
        "Three tables of ticks and crosses over six words. Window 1: ticks on the diagonal only. Window 3: a band of "
        "up to three ticks along the diagonal. Window 6: the whole causal triangle.",
        "✓ may be seen, ✗ is blocked.",
    )


def rolling(write: Function) -> Figure:
    """The positions in a buffer of four rows while seven tokens are written, by `write(buffer, rows, position)`."""
    buffer, states = torch.full((4, 1), -1.0), {}
    for position in range(7):
        write(buffer, torch.tensor([[float(position)]]), position)
        states[f"after {position}"] = buffer[:, 0].int().tolist()
    return with_caption(slots(states), "The position in each row, after each token. Solid: just written.")


def shared_keys(lm: SmallLM, make: Function, mean_heads: Function) -> Figure:
    """Two heads of the model with their own keys and values, and with those that they share.

    make        (width, heads, groups) -> a layer with W_q, W_k, W_v and W_o
    mean_heads  (weight, heads, groups) -> the weight with one head per group
    """
    own = lm.blocks[0].get_submodule("attention")  # layer 0 does not rotate
    layer = make(96, 4, 2)
    layer.load_state_dict({f"W_{name}.weight": own.get_parameter(f"W_{name}.weight") for name in "qo"}, strict=False)
    for name in ("W_k", "W_v"):
        getattr(layer, name).weight.data = mean_heads(own.get_parameter(f"{name}.weight"), 4, 2)
    seen = [lm.look("The boat reached the river bank", layer=0, head=head) for head in (0, 1)]
    future = causal_mask(6)
    with torch.no_grad():
        shared = layer(seen[0].x[None], mask=future)[1][0]
    panels = {f"head {head}, its own keys": (seen[head].weights, future) for head in (0, 1)}
    panels |= {f"head {head}, shared keys": (shared[head], future) for head in (0, 1)}
    return with_alt_text(
        weights(panels, seen[0].words, per_row=2),
        "Four causal maps of weights over the six words of the sentence. Above, heads 0 and 1 of the small model with "
        "their own keys. Below, the same two heads with shared keys: their maps differ from those above, and from each "
        "other.",
        "Layer 0 of the course's model.",
    )


def beside_padding(mask_for: Function, padding: int) -> Figure:
    """The columns that the shortest text, after `padding`, may see while it is continued, by `mask_for(T, S)`."""
    blocked = {
        name: mask_for(size, n) | (torch.arange(n) < padding)
        for name, size, n in (("prefill", 7, 7), ("first new token", 1, 8), ("second new token", 1, 9))
    }
    return with_alt_text(
        tables(blocked, [*4 * ["–"], "then", "the", "hen", "came", "home"], stairs=True),
        "Three tables of ticks and crosses. In the first, seven by seven, the four columns of padding are crossed out, "
        "and of the three real words each sees itself and those before it. The two others are single rows: padding "
        "stays crossed out, all real words are ticked.",
        "A dash is padding.",
    )


def so_far(lm: SmallLM) -> Figure:
    """The diagram up to lesson 09, with the model's decoding of the last word of the sentence."""
    head = lm.look("The boat reached the river bank", layer=1)
    values = {"q": head.q[-1:, :8], "k": head.k[:, :8], "v": head.v[:, :8]}
    values |= {"scores": head.scores[-1:], "weights": head.weights[-1:], "output": head.output[-1:, :8]}
    return with_caption(
        overview("cache", complete=True, **values),
        "Decoding the last word of the sentence: one query, six keys and values. The first 8 columns of head 0, layer "
        "1.",
    )


def append_or_write(n: int) -> Figure:
    """How a cache of `n` tokens is filled: by appending, and in memory made once. One column per new token."""
    figure, axes = row(2, width=4.0, height=0.45 * n + 0.9)
    titles = ("appending: all rows, each time", "made once: one row each time")
    for appending, ax, title in zip((True, False), axes, titles, strict=True):
        for c in range(n):
            for r in range(c + 1 if appending else n):
                new = appending or r == c
                _slot(ax, r, c, str(r) if r <= c else "", "new" if new else "kept")
        _frame(ax, n, n, title)
        ax.set_xticks(range(n), [f"{c + 1}" for c in range(n)])
        ax.set_xlabel("tokens so far")
    axes[0].set_ylabel("row (position)")
    return with_alt_text(
        figure,
        f"Two tables with a column per new token, 1 to {n}, and a row per position. Appending: each column has as many "
        f"cells as tokens so far, all of them written, {n * (n + 1) // 2} in total. Memory made once: each column has "
        f"{n} cells, of which one is written, {n} in total; the others are left as they are.",
        "One column per new token, one row per position. Coloured cells are written for this token, grey ones "
        "stay unchanged.",
    )


def slots(states: Mapping[str, Sequence[int]]) -> Figure:
    """The position in each row of a buffer, one column per state; -1 is an empty row. Rows that changed are solid."""
    names, columns = list(states), [list(positions) for positions in states.values()]
    length = len(columns[0])
    figure, (ax,) = row(1, width=0.95 * len(names) + 0.8, height=0.5 * length + 0.9)
    before = [-1] * length
    for c, column in enumerate(columns):
        for r, position in enumerate(column):
            state = "empty" if position < 0 else "new" if position != before[r] else "kept"
            _slot(ax, r, c, "" if position < 0 else str(position), state)
        before = column
    _frame(ax, length, len(names), "")
    ax.set_xticks(range(len(names)), names)
    ax.set_ylabel("row")
    details = "; ".join(
        f"{name}: {', '.join('empty' if p < 0 else str(p) for p in column)}"
        for name, column in zip(names, columns, strict=True)
    )
    return with_alt_text(figure, f"The positions in the {length} rows of a buffer. {details}.")


def hierarchy() -> Figure:
    """Three levels of memory: the faster, the smaller."""
    from matplotlib.patches import Polygon

    figure, (ax,) = row(1, width=7.4, height=2.9)
    widths = (1.3, 2.6, 3.9, 5.2)
    for level, (name, speed, size) in enumerate(LEVELS):
        top, bottom = 3 - level, 2 - level + 0.06
        left = [(-widths[level] / 2, top), (widths[level] / 2, top)]
        right = [(widths[level + 1] / 2, bottom), (-widths[level + 1] / 2, bottom)]
        ground = (PALETTE[0], PALETTE[5], PALE)[level]
        ax.add_patch(Polygon(left + right, facecolor=ground, edgecolor=GREY, linewidth=0.8))
        shown = f"{speed:g} TB/s" if speed >= 1 else f"{1000 * speed:g} GB/s"
        write(ax, 0, (top + bottom) / 2 - 0.08, size, color=_ink(ground), fontweight="bold")
        ax.text(-2.9, (top + bottom) / 2, name, ha="right", va="center", color=INK)
        ax.text(2.9, (top + bottom) / 2, f"read at {shown}", ha="left", va="center", color=INK)
    line = {"arrowstyle": "-|>", "color": GREY, "linewidth": 1.0}
    for word, tip, tail in (("faster", (5.3, 2.9), (5.3, 0.2)), ("larger", (-6.1, 0.1), (-6.1, 2.8))):
        ax.annotate(word, tip, tail, ha="center", va="center", color=GREY, fontsize=SMALL, arrowprops=line)
    ax.set(xlim=(-6.6, 5.8), ylim=(-0.05, 3.1))
    ax.axis("off")
    details = "; ".join(
        f"{name}, {size}, {f'{speed:g} TB' if speed >= 1 else f'{1000 * speed:g} GB'} per second"
        for name, speed, size in LEVELS
    )
    return with_alt_text(
        figure,
        f"A pyramid of three levels of memory, from small and fast to large and slow: {details}.",
        "An A100 GPU and the computer around it, from Dao et al., FlashAttention (arXiv 2205.14135), figure 1, 2022.",
    )


def situations() -> Figure:
    """The `roofline` of an H100 with three batches of texts in decoding, and with a prefill."""
    texts = {"decoding, 1 text": 1, "decoding, 8 texts": 8, "decoding, 64 texts": 64, "prefill, 4,096": 4096}
    return with_caption(
        roofline(texts),
        "The highest speed at which a matrix of parameters can be applied. Left of the corner, reading is the limit; "
        "right of it, the processor is. Computed from NVIDIA's figures for the H100 (SXM, 2022).",
    )


def roofline(points: Mapping[str, float], peak: float = H100[0], bandwidth: float = H100[1]) -> Figure:
    """The most operations per second against operations per byte, with a name for some intensities.

    peak, bandwidth  trillions of operations and of bytes per second, by default an H100's
    """
    figure, (ax,) = row(1, width=7.4, height=3.6)
    corner, ends = peak / bandwidth, (0.4, 20000.0)
    ax.plot([ends[0], corner], [ends[0] * bandwidth, peak], color=PALETTE[0], linewidth=2.2)
    ax.plot([corner, ends[1]], [peak, peak], color=PALETTE[1], linewidth=2.2, linestyle="--")
    ax.axvline(corner, color=GREY, linestyle=":", linewidth=1.0)
    ax.set(xscale="log", yscale="log", xlim=ends, ylim=(1, 4 * peak))
    said = []
    for name, intensity in points.items():
        height = min(peak, intensity * bandwidth)
        ax.plot([intensity], [height], marker="o", color=INK, markersize=6)
        above = intensity > corner
        ax.annotate(
            f"{name}: {_percent(height / peak)}",
            (intensity, height),
            (0, 9) if above else (9, -4),
            textcoords="offset points",
            ha="center" if above else "left",
            va="bottom" if above else "top",
            fontsize=SMALL,
            color=INK,
        )
        said.append(f"{name}, {intensity:g} operations per byte, {_percent(height / peak)} of the peak")
    ax.text(0.55, 6 * bandwidth, "bound by memory", fontsize=SMALL, color=INK, ha="left", va="center")
    ax.text(
        1.15 * corner,
        1.6,
        f"corner: {corner:.0f} operations per byte",
        fontsize=SMALL,
        color=INK,
        ha="left",
        va="bottom",
    )
    ax.text(1.15 * corner, 0.45 * peak, "bound by the processor", fontsize=SMALL, color=INK, ha="left", va="center")
    ax.set(xlabel="operations per byte that is read", ylabel="trillion operations per second")
    ax.grid(color=LIGHT, linewidth=0.6)
    return with_alt_text(
        figure,
        "Operations per second against operations per byte, both logarithmic: a line that rises with the bandwidth, "
        f"{bandwidth:g} trillion bytes per second, up to {corner:.0f} operations per byte, and is level from there at "
        f"{peak:g} trillion operations per second. Points on it: {'; '.join(said)}.",
    )


def time_bars(spent: Mapping[str, Sequence[float]], parts: Sequence[str]) -> Figure:
    """Milliseconds of each situation: one stacked bar per situation, a hatching and a colour per part."""
    figure, (ax,) = row(1, width=8.0, height=0.55 * len(spent) + 1.3)
    names = list(spent)
    starts = [0.0] * len(names)
    for part, what in enumerate(parts):
        sizes = [float(spent[name][part]) for name in names]
        look: dict[str, Any] = {"color": PALETTE[part], "hatch": HATCHES[part], "edgecolor": GROUND, "linewidth": 0.5}
        ax.barh(range(len(names)), sizes, left=starts, height=0.62, label=what, **look)
        starts = [start + size for start, size in zip(starts, sizes, strict=True)]
    for i, total in enumerate(starts):
        ax.text(total, i, f" {total:.1f} ms", va="center", ha="left", color=INK)
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.set(xlim=(0, 1.15 * max(starts)), xlabel="milliseconds for one step")
    ax.legend(frameon=False, fontsize=SMALL, ncols=len(parts), loc="lower center", bbox_to_anchor=(0.4, 1.0))
    details = "; ".join(
        f"{name}: {', '.join(f'{value:.2f} {what}' for value, what in zip(spent[name], parts, strict=True))}"
        for name in names
    )
    return with_alt_text(figure, f"Stacked bars of milliseconds. {details}.")


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share > 0.1 else f"{100 * share:.2g} %"


def _slot(ax: Axes, r: int, c: int, text: str, state: str) -> None:
    """A row of a cache at (r, c): "new" is solid, "kept" pale; "empty" has no text."""
    ground = colour("k") if state == "new" else PALE
    edge = INK if state == "new" else FAINT
    cell(ax, c, r, (0.84, 0.84), facecolor=ground, edgecolor=edge, linewidth=0.8)
    write(ax, c, r, text, color=_ink(ground) if state == "new" else GREY, fontsize=SMALL)


def _frame(ax: Axes, down: int, across: int, title: str) -> None:
    ax.set(xlim=(-0.6, across - 0.4), ylim=(down - 0.4, -0.6), title=title)
    ax.set_yticks(range(down))
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def _ink(ground: str) -> str:
    """The colour of text on a ground, also where the dark theme changes the ground."""
    from matplotlib.colors import to_rgba

    return INK if ground == PALE else ink_on(to_rgba(ground))
