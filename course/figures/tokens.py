"""Figures of lesson 14: a text cut into pieces, tokens that may be drawn, and drafted tokens.

All have alt text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import torch

from .base import grid, plain, row, with_alt_text
from .style import FAINT, GREY, INK, MONO, PALE, PALE_BLUE, PALE_ORANGE, PALETTE, SMALL, colour

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIGNS = {" ": "␣", "\n": "↵"}


def cuts(rows: Mapping[str, Sequence[bytes]]) -> Figure:
    """One text in several cuts, one row each: a box for each piece, as wide as its bytes.

    rows  title -> the pieces, whose bytes together are the same text in every row
    """
    from matplotlib.patches import Rectangle

    length = max(sum(map(len, pieces)) for pieces in rows.values())
    figure, (ax,) = row(1, width=min(9.8, 1.9 + 0.24 * length), height=0.5 * len(rows) + 0.25)
    for y, pieces in enumerate(rows.values()):
        x = 0
        for i, piece in enumerate(pieces):
            ground = (PALE_BLUE, PALE_ORANGE)[i % 2]
            box = Rectangle((x + 0.06, y - 0.38), len(piece) - 0.12, 0.76, facecolor=ground, edgecolor=GREY)
            box.set_linewidth(0.8)
            ax.add_patch(box)
            ax.text(x + len(piece) / 2, y, _shown(piece), ha="center", va="center", family=MONO, fontsize=8, color=INK)
            x += len(piece)
    ax.set_yticks(range(len(rows)), [f"{title}: {len(pieces)}" for title, pieces in rows.items()])
    ax.set_xticks([])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set(xlim=(0, length), ylim=(len(rows) - 0.5, -0.5))
    details = "; ".join(
        f"{title}, {len(pieces)} pieces: {' | '.join(map(_shown, pieces))}" for title, pieces in rows.items()
    )
    return with_alt_text(figure, f"The same text in {len(rows)} cuts. {details}.")


def choices(panels: Mapping[str, torch.Tensor], words: Sequence[str], top: float = 1.0) -> Figure:
    """Probabilities (N,) of the same N words under several rules, one panel each; a probability of 0 is hatched."""
    figure, axes = grid(len(panels), 3, width=3.2, height=0.22 * len(words) + 0.75)
    details = []
    for ax, (title, probabilities) in zip(axes, panels.items(), strict=True):
        shares = plain(probabilities).tolist()
        ax.barh(range(len(words)), shares, color=colour("weights"), height=0.7)
        for y, share in enumerate(shares):
            if share:
                ax.text(share + 0.015 * top, y, f"{share:.2f}", va="center", fontsize=SMALL, color=INK)
            else:
                ax.barh(y, top, color=PALE, edgecolor=FAINT, hatch="///", height=0.7, linewidth=0)
        ax.set_yticks(range(len(words)), [_signs(word) for word in words])
        ax.invert_yaxis()
        ax.set(xlim=(0, top), title=title)
        kept = [f"{word} {share:.2f}" for word, share in zip(words, shares, strict=True) if share]
        details.append(f"{title}: {', '.join(kept)}; {len(words) - len(kept)} at 0")
    return with_alt_text(
        figure, f"{len(panels)} panels of bars, the probabilities of {len(words)} tokens. {'. '.join(details)}."
    )


def drafts(calls: Sequence[tuple[Sequence[str], int, str]]) -> Figure:
    """Calls of the target, one row each: (drafted words, how many were accepted, the word that the target adds)."""
    from matplotlib.patches import Rectangle

    across = max(len(drafted) for drafted, _, _ in calls) + 1
    figure, (ax,) = row(1, width=1.25 * across + 0.8, height=0.42 * len(calls) + 0.5)
    for y, (drafted, accepted, added) in enumerate(calls):
        for x, word in enumerate([*drafted, added]):
            own, taken = x == len(drafted), x < accepted
            ground = PALE_ORANGE if own else PALE_BLUE if taken else PALE
            hatch = "" if own or taken else "///"
            edge = INK if own else PALETTE[0] if taken else FAINT
            ax.add_patch(
                Rectangle((x - 0.46, y - 0.38), 0.92, 0.76, facecolor=ground, edgecolor=edge, hatch=hatch, linewidth=1)
            )
            text = _signs(word)
            box = None if own or taken else {"facecolor": PALE, "edgecolor": "none", "pad": 1}
            ax.text(x, y, text, ha="center", va="center", fontsize=SMALL, color=INK, bbox=box)
    ax.set_yticks(range(len(calls)), [f"call {y}" for y in range(len(calls))])
    ax.set_xticks(range(across), [*(f"draft {x}" for x in range(across - 1)), "target"])
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set(xlim=(-0.6, across - 0.4), ylim=(len(calls) - 0.5, -0.5))
    details = "; ".join(
        f"call {y}: {accepted} of {len(drafted)} accepted ({', '.join(drafted)}), then {added}"
        for y, (drafted, accepted, added) in enumerate(calls)
    )
    return with_alt_text(figure, f"Calls of the target with drafted tokens; rejected ones are hatched. {details}.")


def _shown(piece: bytes) -> str:
    """A piece as text, or in hexadecimal where it is not."""
    try:
        return _signs(piece.decode())
    except UnicodeDecodeError:
        return piece.hex()


def _signs(text: str) -> str:
    return "".join(SIGNS.get(character, character) for character in text)
