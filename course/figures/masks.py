"""Pictures for lesson 05: who may see whom, padded batches, and weights under right and wrong masks.

At the end stand the functions that the pictures are drawn with until the learner's own pass. They ask PyTorch, in
ways that the lesson's exercises do not allow; the padding is read off the words themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F

from course.figures.base import INK, PALETTE, STYLE, curves, heat_map, row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

OPEN, CLOSED = "#cfe3f2", "#f4f4f4"


def tables(
    panels: Mapping[str, torch.Tensor],
    words: Sequence[str] = (),
    per_row: int = 3,
    stairs: bool = False,
) -> Figure:
    """Masks as tables of ✓ (may see) and ✗ (blocked, hatched): a panel for each title, its mask bool (T, S).

    `words` names the S keys; the T queries are named after the last T of them. `stairs` are drawn where the future
    begins.
    """
    masks = {title: mask.detach().cpu().bool() for title, mask in panels.items()}
    fig, axes = _grid(list(masks.values()), per_row, cell=0.36, named=bool(words))
    for ax, (title, mask) in zip(axes, masks.items(), strict=True):
        names = list(words)[: mask.shape[1]]
        heat_map(
            torch.zeros(mask.shape),
            ax=ax,
            title=title,
            blocked=torch.ones_like(mask),
            rows=names[-mask.shape[0] :] if names else None,
            columns=names or None,
        )
        for i, j in torch.cartesian_prod(*map(torch.arange, mask.shape)).tolist():
            blocked = bool(mask[i, j])
            if not blocked:
                ax.add_patch(_cell(i, j, facecolor=OPEN, edgecolor="white"))
            ax.text(
                j,
                i,
                "✗" if blocked else "✓",
                ha="center",
                va="center",
                fontsize=12,
                color=INK if blocked else "#003f66",
                fontweight="bold",
                bbox={"boxstyle": "round,pad=0.1", "facecolor": CLOSED, "edgecolor": "none"} if blocked else None,
            )
        if stairs:
            _stairs(ax, *mask.shape)
    return fig


def weights(
    panels: Mapping[str, tuple[torch.Tensor, torch.Tensor | None]],
    words: Sequence[str] = (),
    per_row: int = 3,
    cell: float = 0.44,
    stairs: bool = False,
) -> Figure:
    """Weights as heat maps: for each title the weights (T, S) and, bool (T, S), what is blocked (None: nothing).

    `words` and `stairs` as in `tables`.
    """
    shapes = [values for values, _ in panels.values()]
    fig, axes = _grid(shapes, per_row, cell=cell, named=bool(words))
    for ax, (title, (values, blocked)) in zip(axes, panels.items(), strict=True):
        names = list(words)[: values.shape[1]]
        heat_map(
            values,
            ax=ax,
            title=title,
            blocked=blocked,
            numbers=True,
            rows=names[-values.shape[0] :] if names else None,
            columns=names or None,
        )
        if stairs:
            _stairs(ax, *values.shape)
    return fig


def before_and_after(scores: torch.Tensor, blocked: torch.Tensor, after: torch.Tensor, words: Sequence[str]) -> Figure:
    """Three maps (T, S): all scores, the scores with the blocked ones hatched, the weights they become."""
    fig, axes = row(3, width=3.9, height=3.5)
    options: dict[str, Any] = {"rows": words[-scores.shape[0] :], "columns": words}
    limit = float(scores.detach().abs().max())
    heat_map(scores, ax=axes[0], kind="scores", limit=limit, title="scores", **options)
    heat_map(
        scores,
        ax=axes[1],
        kind="scores",
        limit=limit,
        blocked=blocked,
        title="scores, masked (hatched: −∞)",
        **options,
    )
    heat_map(after, ax=axes[2], title="weights", blocked=blocked, **options)
    return fig


def sentences(texts: Sequence[Sequence[str]], lengths: Sequence[int], width: int) -> Figure:
    """A padded batch: one row a sentence, one cell a token, the places past its length hatched."""
    fig, (ax,) = row(1, width=1.1 * width + 0.9, height=0.46 * len(texts) + 0.5)
    ax.set(xlim=(-0.5, width - 0.5), ylim=(len(texts) - 0.5, -0.5))
    ax.set_xticks(range(width))
    ax.set_yticks(range(len(texts)), [f"length {length}" for length in lengths])
    ax.tick_params(length=0, top=False, labeltop=True, labelbottom=False)
    ax.spines[:].set_visible(False)
    for r, (text, length) in enumerate(zip(texts, lengths, strict=True)):
        for c in range(width):
            real = c < length
            look = {"facecolor": OPEN} if real else {"facecolor": "#efefef", "hatch": "///"}
            ax.add_patch(_cell(r, c, edgecolor="white" if real else "#8a8a8a", linewidth=0, **look))
            ax.text(
                c,
                r,
                text[c] if real else "pad",
                ha="center",
                va="center",
                color=INK,
                style="normal" if real else "italic",
                bbox=None if real else {"boxstyle": "round,pad=0.15", "fc": CLOSED, "ec": "none"},
            )
    return fig


def losses(runs: Mapping[str, Sequence[float]], floor: float, name: str) -> Figure:
    """Loss against step for each run, over a line at `floor`, which `name` explains."""
    fig, (ax,) = row(1, width=7.6, height=3.3)
    steps = range(1, len(next(iter(runs.values()))) + 1)
    curves(steps, runs, ax=ax, xlabel="step", ylabel="loss (nats per token)")
    ax.plot([1, len(steps)], [floor, floor], color=PALETTE[6], linestyle=":", linewidth=1.4)
    ax.annotate(name, (len(steps), floor), (0, 5), textcoords="offset points", ha="right")
    ax.set_ylim(0, None)
    return fig


def _cell(r: int, c: int, **look: Any) -> Rectangle:
    from matplotlib.patches import Rectangle

    return Rectangle((c - 0.5, r - 0.5), 1, 1, **look)


def _stairs(ax: Axes, T: int, S: int) -> None:
    """A line between what T queries, the last of S places, may see and what they may not."""
    across = [place for i in range(T) for place in 2 * [S - T + i + 0.5]] + [S - 0.5]
    down = [-0.5] + [place for i in range(T) for place in 2 * [i + 0.5]]
    for width, colour in ((4.5, "white"), (2.2, PALETTE[1])):
        ax.plot(across, down, color=colour, linewidth=width, solid_capstyle="butt", clip_on=False)


def _grid(shapes: Sequence[torch.Tensor], per_row: int, cell: float, named: bool) -> tuple[Figure, list[Axes]]:
    """Panels in rows of at most `per_row`, large enough for cells of `cell` inches; unused ones are taken away."""
    import matplotlib.pyplot as plt

    down, across = -(-len(shapes) // per_row), min(per_row, len(shapes))
    width = max(1.2, *(cell * shape.shape[1] for shape in shapes)) + (0.95 if named else 0.3)
    height = max(cell * shape.shape[0] for shape in shapes) + (1.15 if named else 0.55)
    with plt.rc_context(STYLE):
        fig, axes = plt.subplots(
            down,
            across,
            figsize=(across * width, down * height),
            squeeze=False,
            layout="constrained",
        )
    fig.get_layout_engine().set(h_pad=0.14)  # titles above slanted labels reach higher than it reckons
    for ax in axes.flat[len(shapes) :]:
        ax.remove()
    return fig, list(axes.flat[: len(shapes)])


def pytorch_causal_mask(T: int, S: int | None = None, device: torch.device | str | None = None) -> torch.Tensor:
    """PyTorch's lower-right causal mask as bool (T, S), True = blocked: where its attention gives no weight."""
    from torch.nn.attention.bias import causal_lower_right

    S = T if S is None else S
    bias = causal_lower_right(T, S)
    query, key, value = torch.zeros(1, 1, T, 1), torch.zeros(1, 1, S, 1), torch.eye(S)[None, None]
    seen = F.scaled_dot_product_attention(query, key, value, attn_mask=bias)
    return seen[0, 0].to(device) == 0


def padding_of(texts: Sequence[Sequence[str]], width: int) -> torch.Tensor:
    """Where a batch of texts, filled up to `width` words, holds no word: bool (B, 1, 1, width), read off the words."""
    filled = [[*text, *(width - len(text)) * [None]] for text in texts]
    return torch.tensor([[[[word is None for word in text]]] for text in filled])


def pytorch_masked_softmax(scores: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """PyTorch's masked softmax: its attention with the scores as queries and the identity as keys and values."""
    identity = torch.eye(scores.shape[-1], dtype=scores.dtype, device=scores.device)
    identity = identity.expand(*scores.shape[:-2], -1, -1)
    seen = F.scaled_dot_product_attention(scores, identity, identity, attn_mask=~mask, scale=1.0)
    return seen.masked_fill(mask, 0.0)  # PyTorch before 2.5: NaN where a whole row is blocked


def pytorch_masked_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """PyTorch's attention, blocked where `mask` is True, and its weights: `(output, weights)`."""
    if mask is None:
        mask = torch.zeros((), dtype=torch.bool, device=query.device)
    scores = query @ key.transpose(-2, -1) * query.shape[-1] ** -0.5
    return pytorch_masked_softmax(scores, mask) @ value, pytorch_masked_softmax(scores, mask)


for _stand_in in (
    pytorch_causal_mask,
    pytorch_masked_softmax,
    pytorch_masked_attention,
):
    _stand_in.__name__ = "PyTorch"  # what captions say: "PyTorch, until your causal_mask passes"
