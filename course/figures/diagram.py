"""The diagram of attention that grows from lesson to lesson."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch

from .base import row, with_alt_text
from .panels import small_map
from .shapes import arrow, cell, rounded, write
from .style import FAINT, GREY, GROUND, INK, LETTERS, PALE, PALE_BLUE, SMALL, colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# In the order of the lessons 01 to 10, each with what it does
PARTS = {
    "dot products": "queries and keys give scores",
    "softmax": "scores become weights",
    "queries, keys, values": "three matrices make queries, keys and values; the weights average the values",
    "scaling": "scores are divided by √d_k",
    "mask": "queries cannot see some of the keys",
    "heads": "several attentions run side by side",
    "rotation": "queries and keys turn by their positions",
    "block": "norms, an MLP and residual connections surround attention",
    "cache": "keys and values of earlier tokens are kept",
    "tiles": "scores and weights are made a tile at a time",
}
_ROWS = {"q": 1.35, "k": 0.15, "v": -1.35}
_SCORES = 0.75  # height of the row from scores to output
# name -> (part, x, y)
_MATRICES = {
    "x": ("queries, keys, values", 0.0, 0.15),
    "q": ("dot products", 2.45, _ROWS["q"]),
    "k": ("dot products", 2.45, _ROWS["k"]),
    "v": ("queries, keys, values", 2.45, _ROWS["v"]),
    "scores": ("dot products", 6.9, _SCORES),
    "weights": ("softmax", 10.75, _SCORES),
    "output": ("queries, keys, values", 12.95, _SCORES),
}
# text -> (part, x, y, width)
_STEPS = {
    "W_q": ("queries, keys, values", 1.2, _ROWS["q"], 0.62),
    "W_k": ("queries, keys, values", 1.2, _ROWS["k"], 0.62),
    "W_v": ("queries, keys, values", 1.2, _ROWS["v"], 0.62),
    "rotate": ("rotation", 3.65, _ROWS["q"], 0.86),
    "rotate ": ("rotation", 3.65, _ROWS["k"], 0.86),
    "q · k": ("dot products", 5.85, _SCORES, 0.74),
    "÷ √dₖ": ("scaling", 7.86, _SCORES, 0.66),
    "mask": ("mask", 8.7, _SCORES, 0.7),
    "softmax": ("softmax", 9.72, _SCORES, 1.06),
    "A V": ("queries, keys, values", 11.85, _SCORES, 0.66),
    "join, W_o": ("heads", 14.35, _SCORES, 1.1),
}
_ARROWS: Sequence[tuple[str, Sequence[tuple[float, float]]]] = (
    *(("queries, keys, values", ((0.36, 0.15), (0.86, _ROWS[name]))) for name in "qkv"),
    *(("queries, keys, values", ((1.53, _ROWS[name]), (2.07, _ROWS[name]))) for name in "qkv"),
    ("dot products", ((2.83, _ROWS["q"]), (5.46, 0.9))),
    ("dot products", ((2.83, _ROWS["k"]), (5.46, 0.6))),
    ("queries, keys, values", ((2.83, _ROWS["v"]), (11.85, _ROWS["v"]), (11.85, 0.44))),
    ("dot products", ((6.24, _SCORES), (6.52, _SCORES))),
    ("softmax", ((7.28, _SCORES), (9.18, _SCORES))),
    ("softmax", ((10.25, _SCORES), (10.37, _SCORES))),
    ("queries, keys, values", ((11.13, _SCORES), (11.5, _SCORES))),
    ("queries, keys, values", ((12.2, _SCORES), (12.57, _SCORES))),
    ("heads", ((13.33, _SCORES), (13.78, _SCORES))),
)
_LETTER = re.compile("W_([qkvo])")
_BLOCK = ("norm", "attention, as above", "+", "norm", "MLP", "+")


def overview(part: str, complete: bool = False, **values: torch.Tensor) -> Figure:
    """The diagram of attention as one lesson sees it, with alt text.

    part      the lesson's part: "dot products" (01), "softmax" (02), "queries, keys, values" (03), "scaling" (04),
              "mask" (05), "heads" (06), "rotation" (07), "block" (08), "cache" (09) or "tiles" (10)
    complete  False, for a lesson's start: only this part is in full colour, earlier ones are grey. True, for its end:
              everything up to this part is in full colour
    values    small matrices of the learner, drawn in place of the letters where the diagram is in full colour: any of
              x, q, k, v, scores, weights and output, each (rows, columns) with at most 8 of both

    Parts of later lessons are dashed.
    """
    if part not in PARTS:
        raise ValueError(f"part is {part!r}; it must be one of {', '.join(map(repr, PARTS))}")
    unknown = sorted(set(values) - set(_MATRICES))
    if unknown:
        raise ValueError(f"unknown matrix {unknown[0]!r}; the diagram has {', '.join(_MATRICES)}")
    names = list(PARTS)
    now = names.index(part)

    def state(of: str) -> str:
        place = names.index(of)
        return "later" if place > now else "new" if complete or place == now else "known"

    figure, (ax,) = row(1, width=9.8, height=3.5)
    _heads(ax, state("heads"))
    _cache(ax, state("cache"))
    _tiles(ax, state("tiles"))
    for of, points in _ARROWS:
        _arrow(ax, points, state(of))
    for text, (of, x, y, width) in _STEPS.items():
        _step(ax, text.strip(), x, y, width, state(of))
    for name, (of, x, y) in _MATRICES.items():
        _matrix(ax, name, x, y, state(of), values.get(name))
    _block(ax, state("block"))
    key = "in full colour: so far" if complete else "in full colour: this lesson\ngrey: known"
    to_come = "" if part == list(PARTS)[-1] else "\ndashed: to come"
    ax.text(14.95, -2.75, f"{key}{to_come}", ha="right", va="center", fontsize=SMALL, color=GREY)
    ax.set(xlim=(-0.5, 15.0), ylim=(-3.4, 2.6))
    ax.axis("off")
    return with_alt_text(figure, _in_words(part, complete, values))


def _in_words(part: str, complete: bool, values: Mapping[str, torch.Tensor]) -> str:
    names = list(PARTS)
    now = names.index(part)
    said = [f"{name}: {PARTS[name]}" for name in names[: now + 1]]
    if complete:
        text = f"The diagram of attention, complete up to {part}. {'; '.join(said)}."
    else:
        known = f" Already known, in grey: {', '.join(names[:now])}." if now else ""
        text = f"The diagram of attention. In full colour, {said[-1]}.{known}"
    if names[now + 1 :]:
        text += f" To come, dashed: {', '.join(names[now + 1 :])}."
    for name, matrix in values.items():
        text += f" {LETTERS[name]} is {_shape(matrix)}."
    return text


def _shape(matrix: torch.Tensor) -> str:
    return " by ".join(map(str, matrix.shape))


def _look(state: str, face: str) -> dict[str, Any]:
    if state == "new":
        return {"facecolor": face, "edgecolor": INK, "linewidth": 1.4, "linestyle": "-"}
    if state == "known":
        return {"facecolor": PALE, "edgecolor": GREY, "linewidth": 0.9, "linestyle": "-"}
    return {"facecolor": "none", "edgecolor": FAINT, "linewidth": 0.8, "linestyle": (0, (3, 2))}


def _arrow(ax: Axes, points: Sequence[tuple[float, float]], state: str) -> None:
    shade = {"new": INK, "known": GREY, "later": FAINT}[state]
    line: Any = (0, (3, 2)) if state == "later" else "-"
    width = 1.4 if state == "new" else 0.9
    ax.plot(*zip(*points[:-1], strict=True), color=shade, linewidth=width, linestyle=line, zorder=1)
    arrow(ax, points[-2], points[-1], colour=shade, width=width, line=line, zorder=1)


def _step(ax: Axes, text: str, x: float, y: float, width: float, state: str, height: float = 0.6) -> None:
    look = _look(state, PALE_BLUE)
    look |= {"facecolor": GROUND} if state == "later" else {}
    rounded(ax, x, y, (width, height), "pad=0,rounding_size=0.14", **look, zorder=2)
    heavy = "bold" if state == "new" else "normal"
    shade = INK if state == "new" else GREY
    text = _LETTER.sub(r"$W_\1$", text)
    write(ax, x, y, text, fontsize=SMALL, color=shade, fontweight=heavy, zorder=3)


def _matrix(ax: Axes, name: str, x: float, y: float, state: str, values: torch.Tensor | None) -> None:
    look = _look(state, colour(name))
    half = 0.38
    if values is not None and state == "new":
        if values.ndim != 2 or max(values.shape) > 8:
            raise ValueError(f"{name}: expected (rows, columns), at most 8 of both; got {tuple(values.shape)}")
        small_map(ax, values, (x - half, y + half, 2 * half, 2 * half), weights=name == "weights")
        look |= {"facecolor": "none", "edgecolor": colour(name), "linewidth": 2.2}
        ax.text(x, y + half + 0.06, LETTERS[name], ha="center", va="bottom", fontsize=11, fontweight="bold", color=INK)
    else:
        shade = GROUND if state == "new" else GREY
        write(ax, x, y, LETTERS[name], fontsize=13, fontweight="bold", color=shade, zorder=4)
    look |= {"facecolor": GROUND} if state == "later" else {}
    cell(ax, x, y, (2 * half, 2 * half), **look, zorder=3)


def _heads(ax: Axes, state: str) -> None:
    """Draw the frames of several heads behind one another."""
    from matplotlib.patches import Rectangle

    for behind in (2, 1, 0):
        shift = 0.14 * behind
        frame = Rectangle((1.85 + shift, -1.95 + shift), 11.6, 4.15, zorder=0)
        frame.set(**{**_look(state, GROUND), "facecolor": GROUND})
        ax.add_patch(frame)
    text = {"new": INK}.get(state, GREY)
    write(ax, 7.9, -1.62, "H heads, each with columns of its own", fontsize=SMALL, color=text)


def _cache(ax: Axes, state: str) -> None:
    from matplotlib.patches import Rectangle

    box = Rectangle((4.55, -1.72), 0.62, 2.62, zorder=0.5)
    box.set(**_look(state, PALE_BLUE))
    ax.add_patch(box)
    heavy = "bold" if state == "new" else "normal"
    shade = INK if state == "new" else GREY
    write(ax, 4.86, -0.55, "cache", fontsize=SMALL, color=shade, rotation=90, fontweight=heavy)


def _tiles(ax: Axes, state: str) -> None:
    """Draw a frame around all that is made of one tile of scores."""
    from matplotlib.patches import Rectangle

    frame = Rectangle((5.3, 0.18), 7.0, 1.47, zorder=0.4)
    frame.set(**{**_look(state, GROUND), "facecolor": "none"})
    ax.add_patch(frame)
    heavy = "bold" if state == "new" else "normal"
    shade = INK if state == "new" else GREY
    write(ax, 8.8, 1.87, "a tile at a time", fontsize=SMALL, color=shade, fontweight=heavy)


def _block(ax: Axes, state: str) -> None:
    """Draw the block below: the residual stream and what is added to it."""
    y, x = -2.75, 1.2
    ends = []
    for text in _BLOCK:
        width = 0.42 if text == "+" else 2.3 if "attention" in text else 0.85
        ends.append((x, x + width))
        _step(ax, text, x + width / 2, y, width, state, 0.42)
        x += width + 0.5
    starts = [0.38, *(end for _, end in ends)]
    for start, (end, _) in zip(starts, ends, strict=False):
        _arrow(ax, ((start, y), (end - 0.02, y)), state)
    _arrow(ax, ((ends[-1][1], y), (ends[-1][1] + 0.5, y)), state)
    for begin, plus in ((0.7, 2), (ends[2][1] + 0.2, 5)):
        middle = sum(ends[plus]) / 2
        _arrow(ax, ((begin, y), (begin, y - 0.5), (middle, y - 0.5), (middle, y - 0.23)), state)
    shade = INK if state == "new" else GREY
    write(ax, 0.0, y, "block", fontsize=SMALL, color=shade)


# Lesson 12's diagram: name -> (colour and letter, x, y, whether this lesson adds it)
_TWO_MATRICES = {
    "x": (0.0, 1.35, False),
    "y": (0.0, -0.6, True),
    "q": (2.75, 1.35, False),
    "k": (2.75, 0.05, True),
    "v": (2.75, -1.35, True),
    "scores": (6.0, 0.7, False),
    "weights": (9.7, 0.7, False),
    "output": (12.1, 0.7, False),
}
# text -> (x, y, width, whether this lesson adds it)
_TWO_STEPS = {
    "W_q": (1.35, 1.35, 0.62, False),
    "W_k": (1.35, 0.05, 0.62, True),
    "W_v": (1.35, -1.35, 0.62, True),
    "q · k": (4.75, 0.7, 0.74, False),
    "÷ √dₖ, mask": (7.33, 0.7, 1.36, True),
    "softmax": (8.72, 0.7, 0.98, False),
    "A V": (10.9, 0.7, 0.66, False),
    "join, W_o": (13.45, 0.7, 1.1, False),
}
_TWO_ARROWS: Sequence[tuple[bool, Sequence[tuple[float, float]]]] = (
    (False, ((0.38, 1.35), (1.02, 1.35))),
    (True, ((0.38, -0.6), (1.02, 0.05))),
    (True, ((0.38, -0.6), (1.02, -1.35))),
    *((y < 1, ((1.68, y), (2.35, y))) for y in (1.35, 0.05, -1.35)),
    (False, ((3.15, 1.35), (4.36, 0.85))),
    (True, ((3.15, 0.05), (4.36, 0.55))),
    (True, ((3.15, -1.35), (10.9, -1.35), (10.9, 0.38))),
    (False, ((5.14, 0.7), (5.6, 0.7))),
    (False, ((6.4, 0.7), (6.63, 0.7))),
    (False, ((8.03, 0.7), (8.21, 0.7))),
    (False, ((9.22, 0.7), (9.3, 0.7))),
    (False, ((10.1, 0.7), (10.55, 0.7))),
    (False, ((11.25, 0.7), (11.7, 0.7))),
    (False, ((12.5, 0.7), (12.88, 0.7))),
)


def two_sequences(complete: bool = False, **values: torch.Tensor) -> Figure:
    """The diagram of attention in lesson 12: keys and values come from a second sequence, Y. It has alt text.

    complete  False, for the lesson's start: only what is new is in full colour. True: everything is
    values    as for `overview`: any of x, q, k, v, scores, weights and output, drawn if `complete`
    """
    figure, (ax,) = row(1, width=9.8, height=2.9)

    def state(new: bool) -> str:
        return "new" if complete or new else "known"

    for new, points in _TWO_ARROWS:
        _arrow(ax, points, state(new))
    for text, (x, y, width, new) in _TWO_STEPS.items():
        _step(ax, text, x, y, width, state(new))
    for name, (x, y, new) in _TWO_MATRICES.items():
        if name == "y":
            _second_sequence(ax, x, y)
        else:
            _matrix(ax, name, x, y, state(new), values.get(name))
    for text, y in (("target, T rows", 2.0), ("source, S rows", -1.25)):
        write(ax, 0.0, y, text, fontsize=SMALL, color=INK)
    key = "in full colour: so far" if complete else "in full colour: this lesson; grey: known"
    ax.text(14.1, -2.0, key, ha="right", va="center", fontsize=SMALL, color=GREY)
    ax.set(xlim=(-0.9, 14.2), ylim=(-2.3, 2.3))
    ax.axis("off")
    words = (
        "The diagram of cross-attention. The target, X, goes through W_q to the queries. The source, Y, goes through "
        "W_k and W_v to the keys and values. Queries and keys give scores, which are divided by √d_k; the padding of "
        "the source is masked. Softmax makes weights, which average the values; the heads are joined, and W_o follows. "
    )
    words += "All of it is in full colour." if complete else "In full colour, what is new: Y, and its way to K and V."
    for name, matrix in values.items():
        words += f" {LETTERS[name]} is {_shape(matrix)}."
    return with_alt_text(figure, words)


def _second_sequence(ax: Axes, x: float, y: float) -> None:
    """Draw the source as a taller box with the letter Y."""
    cell(ax, x, y, (0.76, 0.92), **_look("new", colour("x")), zorder=3)
    write(ax, x, y, "Y", fontsize=13, fontweight="bold", color=GROUND, zorder=4)
