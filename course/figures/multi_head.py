"""Figures of multi-head attention: outputs in reach, heads' columns, weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch

from ..sample_models import sentence
from .base import row, with_alt_text, with_caption
from .diagram import overview
from .lines import Curve, losses, note
from .panels import heat_map
from .roles import heads
from .shapes import cell, rounded, write
from .style import GREY, HATCHES, INK, MARKERS, PALE, PALE_BLUE, PALETTE, SMALL, colour, ink_on

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..models.small_lm import SmallLM

Function = Callable[..., Any]
CHOSEN = {
    "0, 2: the same word": (0, 2),
    "0, 3: the clue to a meaning": (0, 3),
    "1, 2: the word before": (1, 2),
    "1, 1: the verb": (1, 1),
}  # title -> layer and head of the small model
HEADS = PALETTE[3:5]  # of heads 0 and 1: no colour of q, k or v
RANDOM_WORDS = "midnight told more sad present pears daughters last comes thought church sugar"


def reach() -> Figure:
    """The outputs that one head and two heads can reach, for random weights of two values."""
    values = torch.tensor([[1.0, 0.0], [0.0, 1.0]])  # (S, 2): colour and shape of each word
    wanted = torch.tensor([1.0, 1.0])
    a = torch.rand(250, 2, generator=torch.Generator().manual_seed(0))  # the weight that each head gives word 0
    one = a[:, :1]  # for both facts
    reached = {
        name: share * values[0] + (1 - share) * values[1] for name, share in {"one head": one, "two heads": a}.items()
    }
    figure, panels = row(len(reached), width=3.3, height=3.4)
    for ax, (title, outputs) in zip(panels, reached.items(), strict=True):
        across, up = outputs.detach().double().unbind(-1)
        ax.plot(across, up, ".", color=colour("output"), markersize=5, alpha=0.5)
        for name, value in zip(("value 0", "value 1"), values.tolist(), strict=True):
            ax.plot(*value, MARKERS[1], color=colour("v"), markersize=8)
            note(ax, name, value, (8, 6))
        ax.plot(*wanted.tolist(), "*", color=PALETTE[1], markersize=16, markeredgecolor=INK)
        note(ax, "wanted", tuple(wanted.tolist()), (-12, 11), ha="center")
        ax.set(xlim=(-0.2, 1.45), ylim=(-0.2, 1.3), xticks=[0, 1], yticks=[0, 1], aspect="equal")
        ax.set(title=title, xlabel="colour", ylabel="shape")
    return with_alt_text(
        figure,
        "Two panels with colour across and shape upwards. With one head the dots are on the straight line from value 0 "
        "at (1, 0) to value 1 at (0, 1), and miss the star at (1, 1). With two heads they fill the square, star "
        "included.",
        "Each dot is the output for one choice of weights.",
    )


def two_heads(
    attend: Function, x: torch.Tensor, matrices: Sequence[Sequence[torch.Tensor]], words: Sequence[str]
) -> Figure:
    """`heads` for x (T, D) and the matrices W_q, W_k, W_v (D, Dk) of each of two heads, by `attend(q, k, v)`."""
    q, k, v = (torch.stack([x @ own[i] for own in matrices]) for i in range(3))  # each (H, T, Dk)
    found, weights = attend(q, k, v)  # (H, T, Dk), (H, T, T)
    first, second = weights.argmax(-1)  # (T,)
    return with_caption(
        heads(q, k, v, weights, found, words),
        f"Each head weighs the words in its own way: for {int((first != second).sum())} of the {len(words)} words, the "
        "two heads prefer different ones.",
    )


def without_and_with(attention: Function, x: torch.Tensor, mask: torch.Tensor, words: Sequence[str]) -> Figure:
    """The weights of two heads for x (T, D), without a mask and with one (T, T), by `attention(x, mask=...)`."""
    nothing = torch.zeros_like(mask)
    with torch.no_grad():
        weights = [attention(x[None], mask=blocked)[1][0] for blocked in (None, mask)]  # each (2, T, T)
    later = torch.stack([nothing, nothing, mask, mask])
    titles = ["head 0", "head 1", "head 0, causal", "head 1, causal"]
    return with_alt_text(
        side_by_side(torch.cat(weights), rows=words, titles=titles, blocked=later),
        "Four heat maps over the six words. The two heads have different weights. With the mask, the triangle above "
        "the diagonal is blocked, and the weight of each row is on the words up to its own.",
        "Random heads, without a mask and with one. Hatched: blocked.",
    )


def so_far(attend: Function, x: torch.Tensor, matrices: Sequence[torch.Tensor]) -> Figure:
    """The diagram up to lesson 06, with a head of x (T, D): matrices W_q, W_k, W_v (D, Dk), and `attend(q, k, v)`."""
    q, k, v = (x @ matrix for matrix in matrices)
    output, weights = attend(q, k, v)
    values = {"q": q, "k": k, "v": v, "scores": q @ k.T / q.shape[-1] ** 0.5, "weights": weights, "output": output}
    return with_caption(overview("heads", complete=True, x=x, **values), "Head 0 of section 2.")


def addresses(stages: Mapping[str, torch.Tensor], band: int, width: int) -> Figure:
    """Tables of addresses: each of `stages` is (T, D) or (H, T, Dk) integers, one panel per title.

    The shade of a cell, and its number of dots, say whose number it is: head h owns the columns from h * band of a
    matrix with `width` columns.
    """
    tables = {title: cells if cells.ndim == 3 else cells[None] for title, cells in stages.items()}
    gap = 0.9  # between two heads
    tall = max(n * (rows + gap) for n, rows, _ in (cells.shape for cells in tables.values()))
    wide = [cells.shape[2] + 1.6 for cells in tables.values()]
    unit = min(0.4, 11.0 / sum(wide))
    figure, panels = row(len(tables), width=unit * sum(wide) / len(wide), height=unit * tall + 0.75, ratios=wide)
    for ax, (title, cells) in zip(panels, tables.items(), strict=True):
        rows, columns = cells.shape[1:]
        for h, table in enumerate(cells.tolist()):
            top = h * (rows + gap)
            if stages[title].ndim == 3:
                ax.text(-0.5, top - 0.62, f"head {h}", ha="left", va="bottom", fontsize=SMALL)
            for r, line in enumerate(table):
                for c, address in enumerate(line):
                    _address_cell(ax, c, top + r, address, address % width // band)
        ax.set(xlim=(-0.7, columns - 0.3), ylim=(tall - 0.4, -1.5))
        ax.set_aspect("equal", anchor="N")
        ax.set_title(title, fontsize=SMALL)
        ax.axis("off")
    return figure


def cut_by_reshape(small: torch.Tensor) -> Figure:
    """The numbers 0 to 23 of `small` (4, 6), after reshape alone, and in the two heads that are wanted."""
    wanted = torch.stack([small[:, :3], small[:, 3:]])
    return with_alt_text(
        addresses({"small": small, "reshape(2, 4, 3)": small.reshape(2, 4, 3), "wanted": wanted}, band=3, width=6),
        "Tables of the numbers 0 to 23, shaded by the head that should own them. In small, four words of six, head 0 "
        "owns the left three columns. After reshape, head 0 has the numbers 0 to 11, half of them from head 1's "
        "columns. Wanted: head 0 has 0 1 2, 6 7 8, 12 13 14 and 18 19 20, all its own.",
        "A dot marks the numbers that belong to head 1.",
    )


def packed(n_heads: int, tokens: int, width: int) -> Figure:
    """`X` times a packed matrix gives the heads' columns side by side: three grids."""
    figure, (ax,) = row(1, width=9.2, height=3.6)
    share = width // n_heads
    x = 0.0
    for name, height, banded, sign in (
        (f"$\\mathbf{{X}}$\n({tokens}, {width})", tokens, False, "@"),
        (f"$\\mathbf{{W}}_q$\n({width}, {width})", width, True, "="),
        (f"$\\mathbf{{Q}} = \\mathbf{{X}}\\,\\mathbf{{W}}_q$\n({tokens}, {width})", tokens, True, ""),
    ):
        top = (width - height) / 2
        for r in range(height):
            for d in range(width):
                _owned_cell(ax, x + d, top + r, d // share if banded else None, number=False)
        if banded:
            for h in range(n_heads):
                middle = x + h * share + share / 2 - 0.5
                ax.text(middle, top - 0.9, f"head {h}", ha="center", va="bottom", fontsize=SMALL)
        ax.text(x + width / 2 - 0.5, top + height + 0.1, name, ha="center", va="top")
        write(ax, x + width + 1.0, width / 2 - 0.5, sign, fontsize=18)
        x += width + 3
    ax.set(xlim=(-1, x - 2), ylim=(width + 1.8, -2.0), aspect="equal")
    ax.axis("off")
    return with_alt_text(
        figure,
        f"X, a plain grid of {tokens} by {width}, times W_q, a grid of {width} by {width} whose left half belongs to "
        f"head 0 and right half to head 1, equals Q, a grid of {tokens} by {width} with the same two halves.",
        "Every head owns a band of columns, in the matrix and in the result.",
    )


def shapes() -> Figure:
    """The shapes from x to the output of multi-head attention, as a row of boxes."""

    steps = (  # operation, resulting shape
        ("", "x\n(B, T, D)"),
        ("W_q, W_k,\nW_v", "q, k, v\n(B, T, D)"),
        ("split", "q, k, v\n(B, H, T, Dk)"),
        ("q · kᵀ / √dₖ", "scores\n(B, H, T, S)"),
        ("mask,\nsoftmax,\ndropout", "weights\n(B, H, T, S)"),
        ("· v", "heads\n(B, H, T, Dv)"),
        ("merge", "merged\n(B, T, D)"),
        ("W_o", "output\n(B, T, D)"),
    )
    figure, (ax,) = row(1, width=9.6, height=1.5)
    for i, (done, shape) in enumerate(steps):
        rounded(ax, i, 0, (0.72, 0.48), "pad=0.02", facecolor=PALE_BLUE, edgecolor=PALETTE[0], linewidth=1.2)
        write(ax, i, 0, shape, fontsize=SMALL)
        ax.text(i if i == 0 else i - 0.5, 0.38, done, ha="center", va="bottom", fontsize=SMALL)
        if i:
            ax.annotate("", (i - 0.39, 0), (i - 0.61, 0), arrowprops={"arrowstyle": "->"})
    ax.set(xlim=(-0.5, len(steps) - 0.5), ylim=(-0.4, 0.8))
    ax.axis("off")
    return with_alt_text(
        figure,
        "Eight boxes in a row with the shapes on the way: x (B, T, D); queries, keys and values (B, T, D); split into "
        "(B, H, T, Dk); scores (B, H, T, S); weights (B, H, T, S); outputs of the heads (B, H, T, Dv); merged "
        "(B, T, D); output (B, T, D).",
        "From x to output. Keys and values have S rows instead of T if they come from another sentence.",
    )


def twelve_heads(lm: SmallLM) -> Figure:
    """How each head of the model looks back in twelve random words, repeated."""
    text = f"{RANDOM_WORDS} {RANDOM_WORDS}"  # positions 0 to 11, then 12 to 23
    distances = {"itself": 0, "the word before": 1, "the same word last time": 12, "the word after that": 11}
    places = [(layer, head) for layer in range(3) for head in range(4)]
    looks = [lm.look(text, layer, head).weights for layer, head in places]
    measured = torch.stack(
        [torch.stack([weights.diagonal(-distance).mean() for distance in distances.values()]) for weights in looks]
    )  # (12, 4): the mean weight on the word at this distance, over all queries that have one
    names = [f"layer {layer}, head {head}" for layer, head in places]
    highest = ". ".join(
        f"{column}: highest for {names[int(values.argmax())]} with {values.max():.2f}"
        for column, values in zip(distances, measured.T, strict=True)
    )
    return with_alt_text(
        heat_map(measured, rows=names, columns=list(distances), size=(5.4, 6.0)),
        f"A heat map with twelve heads as rows and four kinds of words as columns. {highest}. All four heads of layer "
        "2 have more than 0.8 on the word after the same word last time.",
        "Columns are 0, 1, 12 and 11 positions back.",
    )


def four_heads(lm: SmallLM) -> Figure:
    """The weights of four heads of the model on the sentence."""
    later = torch.ones(6, 6, dtype=torch.bool).triu(1)
    return with_alt_text(
        side_by_side(_chosen_weights(lm), rows=sentence.words, titles=list(CHOSEN), blocked=later),
        "Four causal heat maps over the six words. The same word: every word looks at itself, and the second the at "
        "both. The clue to a meaning: bank looks only at river, the other rows are spread. The word before: the and "
        "river look at reached, bank mostly at river. The verb: the, river and bank look at reached.",
        "Layer and head are above each map. Hatched: blocked by the causal mask.",
    )


def _chosen_weights(lm: SmallLM) -> torch.Tensor:
    return torch.stack([lm.look(" ".join(sentence.words), layer, head).weights for layer, head in CHOSEN.values()])


def mean_of_heads(lm: SmallLM) -> Figure:
    """The mean weights of the heads of layer 1 on the sentence."""
    layer = torch.stack([lm.look(" ".join(sentence.words), 1, head).weights for head in range(4)])
    later = torch.ones(6, 6, dtype=torch.bool).triu(1)
    return with_alt_text(
        side_by_side(layer.mean(0)[None], rows=sentence.words, titles=["mean of layer 1"], blocked=later),
        "One causal heat map, the mean over the four heads of layer 1. Boat looks at The, and the at reached, with "
        "more than 0.75. The rows of river and bank are mixtures: the weight is spread over several words.",
        "The mean is what nn.MultiheadAttention returns by default. You can no longer see what each head does.",
    )


def three_tasks(runs: Mapping[str, Mapping[str, Curve]]) -> Figure:
    """The losses of a right layer and one that merges wrongly, in the lesson's three tasks."""
    figure, axes = row(3, width=3.4, height=3.0)
    for ax, (name, run) in zip(axes, runs.items(), strict=True):
        losses(run, {"guessing, ln 16": torch.tensor(16.0).log().item()}, every=10, ax=ax, ylabel="", title=name)
    axes[0].set_ylabel("training loss")
    return with_alt_text(
        figure,
        "Loss curves of two layers in three tasks. Copy and reverse: both fall to 0. Predict: the right layer stays at "
        f"2.77, the wrong merge falls to {runs['predict']['wrong merge'][-1]:.2f}, which is impossible without seeing "
        "the future.",
    )


def side_by_side(
    weights: torch.Tensor,
    *,
    rows: Sequence[str],
    titles: Sequence[str] | None = None,
    blocked: torch.Tensor | None = None,
) -> Figure:
    """One heat map per head of `weights` (H, T, T); only the first has row labels. `blocked`: (T, T), or (H, T, T)."""
    cells = max(2.0, 0.42 * len(rows))
    slanted = max(map(len, rows)) > 2
    # The labels of the first map take their room from all maps
    figure, panels = row(
        len(weights),
        width=cells + 0.1 + 0.7 / len(weights),
        height=0.42 * len(rows) + (1.2 if slanted else 0.9),
    )
    for h, ax in enumerate(panels):
        heat_map(
            weights[h],
            ax=ax,
            rows=rows if h == 0 else None,
            columns=rows,
            blocked=blocked if blocked is None or blocked.ndim == 2 else blocked[h],
            part="weights",
            title=titles[h] if titles else f"head {h}",
        )
        ax.set_xlabel("keys")
    panels[0].set_ylabel("queries")
    return figure


def _owned_cell(ax: Axes, x: float, y: float, head: int | None, number: bool = True) -> None:
    colour: Any = PALE if head is None else _ground(head)
    hatch = "" if head is None or number else HATCHES[head % len(HATCHES)]
    cell(ax, x, y, facecolor=colour, edgecolor=GREY if head is None else "white", hatch=hatch, linewidth=1)
    if number and head is not None:
        write(ax, x, y, str(head), color=ink_on(colour))


def _address_cell(ax: Axes, x: float, y: float, address: int, head: int) -> None:
    ground = _ground(head)
    cell(ax, x, y, facecolor=ground, edgecolor="white", linewidth=1)
    write(ax, x, y + 0.05, str(address), color=ink_on(ground), fontsize=SMALL)
    for dot in range(head):
        ax.plot(x + 0.34 - 0.2 * dot, y - 0.34, "o", color=ink_on(ground), markersize=2.2)


def _ground(head: int) -> Any:
    """Return a head's colour, mixed with white."""
    from matplotlib.colors import to_rgb

    return (*(0.45 + 0.55 * part for part in to_rgb(HEADS[head % len(HEADS)])), 1.0)
