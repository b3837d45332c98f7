"""Figures of lesson 14: a text cut into pieces, tokens that may be drawn, and drafted tokens.

All have alt text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import torch

from .base import grid, plain, row, with_alt_text, with_caption
from .shapes import cell, write
from .style import FAINT, GREY, INK, MONO, PALE, PALE_BLUE, PALE_ORANGE, PALETTE, SMALL, colour

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Function = Callable[..., torch.Tensor]

SIGNS = {" ": "␣", "\n": "↵"}


def cuts(rows: Mapping[str, Sequence[bytes]]) -> Figure:
    """One text in several cuts, one row each: a box for each piece, as wide as its bytes.

    rows  title -> the pieces, whose bytes together are the same text in every row
    """

    length = max(sum(map(len, pieces)) for pieces in rows.values())
    figure, (ax,) = row(1, width=min(9.8, 1.9 + 0.24 * length), height=0.5 * len(rows) + 0.25)
    for y, pieces in enumerate(rows.values()):
        x = 0
        for i, piece in enumerate(pieces):
            ground = (PALE_BLUE, PALE_ORANGE)[i % 2]
            size = (len(piece) - 0.12, 0.76)
            cell(ax, x + len(piece) / 2, y, size, facecolor=ground, edgecolor=GREY, linewidth=0.8)
            write(ax, x + len(piece) / 2, y, _shown(piece), family=MONO, fontsize=8, color=INK)
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


def three_cuts() -> Figure:
    """The lesson's sentence in words, in pieces and in bytes."""
    words = [b"The", b" boat", b" reached", b" the", b" bank", b"."]
    pieces = [b"The ", b"bo", b"a", b"t ", b"r", b"ea", b"ch", b"ed ", b"the ", b"b", b"an", b"k", b"."]
    return with_caption(
        cuts({"words": words, "pieces": pieces, "bytes": [bytes([b]) for b in b"".join(words)]}),
        "␣ is a space. The pieces are one possible cut. A box is as wide as its number of bytes; beside each row is "
        "the number of tokens.",
    )


def six_rules(logits: torch.Tensor, words: Sequence[str], top_k: Function, top_p: Function, min_p: Function) -> Figure:
    """The ten most probable of N tokens, of logits (N,), under six rules; three are functions of (logits, number)."""
    order = logits.argsort(descending=True)[:10]
    rules = {
        "softmax": logits.softmax(-1),
        "temperature 0.5": (logits / 0.5).softmax(-1),
        "temperature 2": (logits / 2).softmax(-1),
        "top-k 4": top_k(logits, 4),
        "top-p 0.9": top_p(logits, 0.9),
        "min-p 0.5": min_p(logits, 0.5),
    }
    return with_caption(
        choices({name: shares[order] for name, shares in rules.items()}, [words[i] for i in order]),
        f"After “The boat reached the river”: the ten most probable of {len(words)} tokens. Hatched: never drawn.",
    )


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

    across = max(len(drafted) for drafted, _, _ in calls) + 1
    figure, (ax,) = row(1, width=1.25 * across + 0.8, height=0.42 * len(calls) + 0.5)
    for y, (drafted, accepted, added) in enumerate(calls):
        for x, word in enumerate([*drafted, added]):
            own, taken = x == len(drafted), x < accepted
            ground = PALE_ORANGE if own else PALE_BLUE if taken else PALE
            hatch = "" if own or taken else "///"
            edge = INK if own else PALETTE[0] if taken else FAINT
            cell(ax, x, y, (0.92, 0.76), facecolor=ground, edgecolor=edge, hatch=hatch, linewidth=1)
            text = _signs(word)
            box = None if own or taken else {"facecolor": PALE, "edgecolor": "none", "pad": 1}
            write(ax, x, y, text, fontsize=SMALL, color=INK, bbox=box)
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
