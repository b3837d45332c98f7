"""Figures of lesson 05: masks, padded batches, weights under masks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import log
from typing import TYPE_CHECKING, Any

import torch

from .. import sample_models
from ..models.noise import random_texts
from . import shapes
from .base import grid, row, with_alt_text, with_caption, with_choices
from .diagram import overview
from .lines import losses
from .panels import charts, heat_map, of_one_size
from .shapes import write
from .style import FAINT, INK, PALE, PALE_BLUE, PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Function = Callable[..., Any]


def three_sizes(mask_for: Function, words: Sequence[str]) -> Figure:
    """The masks of six, two and one query over the six `words`, by `mask_for(T, S)`."""
    masks = {f"T = {n}, S = {len(words)}": mask_for(n, len(words)) for n in (6, 2, 1)}
    return with_alt_text(
        tables(masks, words),
        "Three tables of ticks and crosses over six keys. Six queries: crosses fill the triangle above the diagonal. "
        "Two queries, river and bank: a single cross, where river meets bank. One query, bank: no cross at all.",
        "✓ may be seen, ✗ is blocked.",
    )


@with_choices(S=(1, 6, 1), strip=[2, 4, 6])
def newest_word(mask_for: Function, words: Sequence[str], *, S: int) -> Figure:
    """The words that the newest of `S` may see, with ends aligned as `mask_for(T, S)` does, and with starts aligned."""
    panels = {"ends aligned": mask_for(1, S), "starts aligned": mask_for(S, S)[:1]}
    seen = [int((~mask).sum()) for mask in panels.values()]
    return with_alt_text(
        tables(panels, words[:S], per_row=1),
        f"{words[S - 1]} sees {seen[0]} of {S} words if the ends are aligned, {seen[1]} if the starts are.",
    )


def both_masks(both: torch.Tensor) -> Figure:
    """The lesson's two masks together, (B, 1, 6, 6), for its sentences of 6, 4 and 2 words."""
    return with_alt_text(
        tables({f"length {n}": mask[0] for n, mask in zip((6, 4, 2), both, strict=True)}),
        "Three tables of six queries and six keys. Length 6: crosses above the diagonal. Length 4: the last two "
        "columns are all crosses, too. Length 2: the last four columns are all crosses.",
        "causal | padding, for the three sentences.",
    )


@with_choices(
    fill=[0.0, -1.0, -2.0, -4.0, -6.0, -8.0, -16.0, -32.0, -torch.inf],
    times=[1, 5, 25],
    strip={"fill": [0.0, -4.0, -torch.inf]},
)
def let_through(mask: torch.Tensor, scores: torch.Tensor, *, fill: float, times: float) -> Figure:
    """The weights of scores (T, T), multiplied by `times`, with `fill` where the mask blocks."""
    shares = torch.softmax(torch.where(mask, fill, times * scores), dim=-1)
    through = (shares * mask).sum(-1).max()
    return with_alt_text(
        weights({f"on the future: {through:.4f}": (shares, None)}, stairs=True),
        f"Weights, blocked scores set to {fill}: {through:.4f} of a row above the diagonal.",
    )


def without_and_with(attend: Function, mask: torch.Tensor, x: torch.Tensor, words: Sequence[str]) -> Figure:
    """The weights of `attend(x, x, x)` for x (6, D), without and with a causal mask."""
    panels = {"bidirectional": (attend(x, x, x)[1], None), "causal": (attend(x, x, x, mask)[1], mask)}
    return with_alt_text(
        weights(panels, words),
        "Two maps of weights over the same sentence. Bidirectional: all 36 cells are filled. Causal: the triangle "
        "above the diagonal is hatched, and each row's weights are spread over what is left.",
        "The same words, without and with a mask.",
    )


def suspects(tokens: torch.Tensor) -> Figure:
    """The words that each word sees in the lesson's eight suspects, measured at `tokens` (T, D)."""

    def unseen(attend: Function) -> torch.Tensor:
        """bool (T, T): True where output i does not depend on input j."""
        moved = torch.autograd.functional.jacobian(attend, tokens)  # (T, D, T, D)
        influence: torch.Tensor = moved.abs().amax((1, 3))
        return influence < 1e-5

    found = {f"suspect {letter}": unseen(sample_models.suspect(letter)) for letter in sample_models.SUSPECTS}
    return with_alt_text(
        tables(found, per_row=4, stairs=True),
        "Eight tables of ticks and crosses, measured. A and D: ticks everywhere. B: ticks below the stairs only. C: "
        "two steps beyond the stairs. E: the first three positions see one another. F: ticks on and above the "
        "diagonal, but a single one in row 4 and none in the last row. G: one step beyond the stairs. H: below the "
        "stairs, but row 3 has only key 0, and rows 4 and 5 have only the first keys and their own.",
        "✓ this output moves if that input changes.",
    )


def on_noise(runs: Mapping[str, Sequence[float]]) -> Figure:
    """The losses of the lesson's four models that were trained on random tokens."""
    ax = losses(runs, {"nothing can be learned, ln 8": log(8)}, names="ends", ylabel="loss (nats per token)")
    steps = {name: next((i for i, loss in enumerate(run) if loss < 1.9), None) for name, run in runs.items()}
    details = [
        f"{name}: {run[-1]:.2f} at the end" + (f", below 1.9 from step {steps[name]}" if steps[name] else "")
        for name, run in runs.items()
    ]
    return with_alt_text(ax, f"Loss against training step. {'; '.join(details)}.", "Training on random tokens.")


def accuracies(models: Mapping[str, Function]) -> Figure:
    """The accuracy at each position of the lesson's models, on texts of random tokens."""
    ids = random_texts(1000, torch.Generator().manual_seed(1))
    with torch.no_grad():
        panels = {name: (model(ids[:, :-1]).argmax(-1) == ids[:, 1:]).float().mean(0) for name, model in models.items()}
    figure, axes = charts(panels, [str(i) for i in range(12)], width=4.8, height=2.9, limit=1.15)
    details = []
    for ax, (name, share) in zip(axes, panels.items(), strict=True):
        ax.set_xlabel("position")
        ax.axhline(1 / 8, color="grey", linestyle=":")
        low, high = share[:-1].aminmax()
        details.append(f"{name}: {low:.2f} to {high:.2f} at positions 0 to 10, {share[-1]:.2f} at position 11")
    return with_alt_text(
        figure,
        f"Two bar charts of accuracy at positions 0 to 11. {'; '.join(details)}.",
        "Dotted: guessing, 1/8.",
    )


def so_far(attend: Function, mask: torch.Tensor, x: torch.Tensor) -> Figure:
    """The diagram up to lesson 05, with the scores, weights and output of `attend(x, x, x, mask)` for x (6, D)."""
    output, found = attend(x, x, x, mask)
    hatched = found.masked_fill(mask, -torch.inf)  # the diagram hatches -inf
    return with_caption(
        overview("mask", complete=True, x=x, scores=x @ x.T, weights=hatched, output=output),
        "Scores, weights and output of the six words; hatched: blocked.",
    )


def tables(
    panels: Mapping[str, torch.Tensor],
    words: Sequence[str] = (),
    per_row: int = 3,
    stairs: bool = False,
) -> Figure:
    """Masks, bool (T, S), as tables of ✓ (may see) and ✗ (blocked, hatched).

    `words` names the S keys; the T queries have the names of the last T. `stairs` draws the border of the future.
    """
    masks = {title: mask.detach().cpu().bool() for title, mask in panels.items()}
    figure, axes = _tables([mask.shape for mask in masks.values()], per_row, cell=0.36, named=bool(words))
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
                shapes.cell(ax, j, i, facecolor=PALE_BLUE, edgecolor="white")
            write(
                ax,
                j,
                i,
                "✗" if blocked else "✓",
                fontsize=12,
                color=INK,
                fontweight="bold",
                bbox={"boxstyle": "round,pad=0.1", "facecolor": PALE, "edgecolor": "none"} if blocked else None,
            )
        if stairs:
            _stairs(ax, *mask.shape)
    return figure


def weights(
    panels: Mapping[str, tuple[torch.Tensor, torch.Tensor | None]],
    words: Sequence[str] = (),
    per_row: int = 3,
    cell: float = 0.44,
    stairs: bool = False,
) -> Figure:
    """Weights (T, S) as heat maps, each with its mask, bool (T, S), or None.

    `words` and `stairs` as in `tables`. Cells narrower than 0.3 inches have no room for numbers, and get a colour bar.
    """
    shapes = [values.shape for values, _ in panels.values()]
    figure, axes = _tables(shapes, per_row, cell=cell, named=bool(words))
    for ax, (title, (values, blocked)) in zip(axes, panels.items(), strict=True):
        names = list(words)[: values.shape[1]]
        heat_map(
            values,
            ax=ax,
            part="weights",
            title=title,
            blocked=blocked,
            numbers=cell >= 0.3,
            rows=names[-values.shape[0] :] if names else None,
            columns=names or None,
        )
        if stairs:
            _stairs(ax, *values.shape)
    return figure


def before_and_after(scores: torch.Tensor, blocked: torch.Tensor, after: torch.Tensor, words: Sequence[str]) -> Figure:
    """Maps (T, S): all scores, scores with blocked ones hatched, weights."""
    figure, axes = row(3, width=3.9, height=3.5)
    options: dict[str, Any] = {"rows": words[-scores.shape[0] :], "columns": words}
    limit = float(scores.detach().abs().max())
    heat_map(scores, ax=axes[0], part="scores", limit=limit, title="scores", **options)
    heat_map(
        scores,
        ax=axes[1],
        part="scores",
        limit=limit,
        blocked=blocked,
        title="scores, masked (hatched: −∞)",
        **options,
    )
    heat_map(after, ax=axes[2], part="weights", title="weights", blocked=blocked, **options)
    of_one_size(axes)
    axes[0].set_ylabel("queries")
    for ax in axes:
        ax.set_xlabel("keys")
    return with_alt_text(
        figure,
        "Three maps. All 36 scores; the same with the triangle above the diagonal hatched; the weights, 1.00 in the "
        "first cell, every row sharing 1 among the cells up to the diagonal.",
    )


def sentences(texts: Sequence[Sequence[str]], lengths: Sequence[int], width: int) -> Figure:
    """A padded batch: one row per sentence, one cell per token, padding hatched."""
    figure, (ax,) = row(1, width=1.1 * width + 0.9, height=0.46 * len(texts) + 0.5)
    ax.set(xlim=(-0.5, width - 0.5), ylim=(len(texts) - 0.5, -0.5))
    ax.set_xticks(range(width))
    ax.set_yticks(range(len(texts)), [f"length {length}" for length in lengths])
    ax.tick_params(length=0, top=False, labeltop=True, labelbottom=False)
    ax.spines[:].set_visible(False)
    for r, (text, length) in enumerate(zip(texts, lengths, strict=True)):
        for c in range(width):
            real = c < length
            look: dict[str, Any] = {"facecolor": PALE_BLUE} if real else {"facecolor": PALE, "hatch": "///"}
            shapes.cell(ax, c, r, edgecolor="white" if real else FAINT, linewidth=0, **look)
            write(
                ax,
                c,
                r,
                text[c] if real else "pad",
                color=INK,
                style="normal" if real else "italic",
                bbox=None if real else {"boxstyle": "round,pad=0.15", "fc": PALE, "ec": "none"},
            )
    return with_alt_text(
        figure,
        "A batch of three sentences in six columns: six words; four words and two pads; two words and four pads.",
        "Three sentences, padded to S = 6. Hatched positions hold no word.",
    )


def _stairs(ax: Axes, T: int, S: int) -> None:
    """Draw the border of the future; queries are the last T of S positions."""
    across = [place for i in range(T) for place in 2 * [S - T + i + 0.5]] + [S - 0.5]
    down = [-0.5] + [place for i in range(T) for place in 2 * [i + 0.5]]
    for width, colour in ((4.5, "white"), (2.2, PALETTE[1])):
        ax.plot(across, down, color=colour, linewidth=width, solid_capstyle="butt", clip_on=False)


def _tables(shapes: Sequence[torch.Size], per_row: int, cell: float, named: bool) -> tuple[Figure, list[Axes]]:
    """Make panels for tables of these shapes, with cells of `cell` inches."""
    width = max(1.2, *(cell * across for _, across in shapes)) + (0.95 if named else 0.3)
    height = max(cell * down for down, _ in shapes) + (1.15 if named else 0.55)
    across = min(per_row, len(shapes))
    figure, axes = grid(len(shapes), across, width=width, height=height, beside=0.2, above=0.2)
    figure.set_layout_engine("constrained", h_pad=0.14)  # the layout underestimates titles above slanted labels
    for ax in axes[::across]:
        ax.set_ylabel("queries")
    for ax in axes[-across:]:
        ax.set_xlabel("keys")
    return figure, axes
