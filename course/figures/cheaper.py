"""Figures of lesson 13: pages that texts share, and the parts of a layer with latent vectors. All have alt text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from .base import row, with_alt_text
from .style import FAINT, GREY, HATCHES, INK, PALE, SMALL, colour, ink_on

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def pages(texts: Mapping[str, tuple[Sequence[int], int]], n_pages: int, page_size: int) -> Figure:
    """A pool of pages, one column per page; `texts` has the block table and the length of each text.

    A cell has the position that is kept there. Pages that several texts have are hatched.
    """
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Rectangle

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
            box = Rectangle((page - 0.44, r - 0.44), 0.88, 0.88, facecolor=ground, edgecolor=INK if used else FAINT)
            ax.add_patch(box)
            if used and len(owners) > 1:
                box.set(hatch=HATCHES[1], edgecolor=colour("k"))
            text = str(position) if used else ""
            ink = ink_on(to_rgba(ground)) if len(owners) == 1 else INK
            patch = {"facecolor": PALE, "edgecolor": "none", "pad": 1} if len(owners) > 1 and text else None
            ax.text(page, r, text, ha="center", va="center", fontsize=SMALL, color=ink, bbox=patch)
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
    from matplotlib.patches import FancyBboxPatch

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
        patch = FancyBboxPatch(
            (x - 0.72, y - 0.3), 1.44, 0.6, boxstyle="round,pad=0.1", facecolor=PALE, edgecolor=colour(part)
        )
        patch.set_linewidth(3.0 if kept else 1.4)
        ax.add_patch(patch)
        ax.text(x, y, text, ha="center", va="center", fontsize=SMALL, color=INK)
    for begin, end in arrows:
        (_, x0, y0, *_), (_, x1, y1, *_) = boxes[begin], boxes[end]
        ax.annotate(
            "", (x1 - 0.84, y1), (x0 + 0.84, y0), arrowprops={"arrowstyle": "-|>", "color": GREY, "linewidth": 1.0}
        )
    ax.set(xlim=(-1.0, 10.4), ylim=(0.1, 3.6))
    ax.axis("off")
    way = (
        "The query is multiplied by W_k and scored against the latent vector; W_v is applied to the mixed latents."
        if absorbed
        else "All heads' keys and values are computed from the latent vector, then scores and output."
    )
    return with_alt_text(
        figure, f"From the input, a latent vector and a rotated key are computed; both are kept (thick frames). {way}"
    )
