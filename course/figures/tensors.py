"""Figures of the warm-up with tensors: dimensions, broadcasting and reductions, products, slopes, steps of training.

All have alt text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import torch

from .base import row, with_alt_text, with_caption, with_choices
from .lines import curves
from .panels import maps
from .products import broadcast, product
from .style import PALETTE, SMALL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Function = Callable[..., torch.Tensor]


def shapes() -> Figure:
    """Tensors of the shapes (5,), (2, 3) and (2, 2, 3), with the names of their dimensions."""
    tables = torch.arange(12.0).reshape(2, 2, 3)
    panels = {"(5,)": torch.arange(5.0)[None], "(2, 3)": tables[0]}
    panels |= {f"(2, 2, 3): table {i}": table for i, table in enumerate(tables)}
    figure, axes = maps(panels, width=2.3, height=2.1, kind="amounts", limit=20)
    for last, ax in zip((0, 1, 2, 2), axes, strict=True):
        ax.set_xlabel(f"→ dim {last}, or −1", fontsize=SMALL)
        if last:
            ax.set_ylabel(f"dim {last - 1} →", fontsize=SMALL, rotation=270, labelpad=12)
    return with_alt_text(
        figure,
        "A list of five numbers has one dimension, 0. A table of two rows and three columns has dimension 0, down, and "
        "dimension 1, across. A tensor of shape (2, 2, 3) is two such tables: dimension 0 chooses the table, 1 runs "
        "down, 2 across.",
        "The last dimension always runs across. In (2, 2, 3), dimension 0 chooses the table.",
    )


def stretched(gaps: Function, staircase: Function) -> Figure:
    """The results of the two exercises on broadcasting, (6, 6) each."""
    numbers = torch.arange(6.0)
    tables = {"gaps": gaps(numbers, numbers), "staircase": staircase(6)}
    panels = {title: table.float() for title, table in tables.items()}
    figure, _ = maps(panels, width=2.9, height=2.7, kind="scores", limit=5, numbers=True)
    return with_alt_text(
        figure,
        "Two tables of six rows and columns. The gaps are 0 on the diagonal, grow to 5 at the top right and fall to "
        "minus 5 at the bottom left. The staircase is 1 on the diagonal and below it, and 0 above.",
        "High numbers are dark brown, numbers below 0 green.",
    )


def centred(centre: Function) -> Figure:
    """Three rows before and after `centre`, (3, 4) each."""
    x = torch.tensor([[1.0, 2.0, 6.0, 3.0], [-4.0, -2.0, -3.0, -3.0], [5.0, 5.0, 5.0, 5.0]])
    figure, _ = maps({"x": x, "centred": centre(x)}, width=3.6, height=2.4, kind="scores", limit=6)
    return with_alt_text(
        figure,
        "Two heat maps of three rows. Before, the rows have the means 3, minus 3 and 5. Afterwards each has the mean "
        "0, and the last row, of four equal numbers, is 0 throughout.",
        "Each row has lost its mean, and only the differences from it remain.",
    )


def without_mean(x: torch.Tensor, *, keepdim: bool) -> Figure:
    """A square `x` (T, T) minus the means of its rows, stretched as `keepdim` makes them."""
    return with_caption(
        broadcast(x, x.mean(dim=-1, keepdim=keepdim), "−"),
        "With keepdim: b is a column and stretches across."
        if keepdim
        else "Without keepdim: b, the means of the rows, is itself a row. It stretches downwards.",
    )


def mixed_rows() -> Figure:
    """A product (2, 3) @ (3, 2) whose second row is a mixture."""
    shares = torch.tensor([[1.0, 0.0, 0.0], [0.5, 0.25, 0.25]])
    return with_caption(
        product(shares, torch.tensor([[2.0, 0.0], [4.0, 8.0], [8.0, 4.0]]), names=("A", "X", "A @ X"), framed=1),
        "The framed row: 0.5 · (2, 0) + 0.25 · (4, 8) + 0.25 · (8, 4) = (4, 3). Row 0 of A picks row 0 of X.",
    )


def means_so_far(shares: torch.Tensor, running_means: Function) -> Figure:
    """The `shares` (4, 4) times four rows: the mean of each row and those before it."""
    x = torch.tensor([[2.0, 0.0], [4.0, 8.0], [9.0, 1.0], [1.0, 3.0]])
    caption = f"Row 2 is the mean of the first three rows: {running_means(x)[2].tolist()}."
    return with_caption(product(shares, x, names=("shares", "x", "means so far"), framed=2), caption)


@with_choices(w=(-2.0, 2.0, 0.5), start={"w": 1.0}, strip=[-1.5, 0.0, 1.0])
def slope(w: float) -> Figure:
    """The parabola w², and at `w` a short line with the slope that autograd finds."""
    at = torch.tensor(float(w), requires_grad=True)
    at.square().backward()
    found = float(at.grad) if at.grad is not None else torch.nan
    near = torch.tensor([w - 0.8, w + 0.8])
    ax = _parabola(3.0, PALETTE[0], row(1, width=2.5, height=3.4)[1][0])
    ax.plot(near, w**2 + found * (near - w), color=PALETTE[1], linewidth=2.5)
    ax.plot([w], [w**2], "o", markersize=10, color=PALETTE[1])
    ax.set(xlabel="w", ylabel="$y = w^2$", xlim=(-2.9, 2.9), ylim=(-1.5, 7.6), aspect="equal")
    ax.set_title(f"w = {w:g}: slope {found:g}".replace("-", "−"))
    return with_alt_text(
        ax, f"A parabola, and a point on it at w = {w:g}, with a short line of slope {found:g} through it."
    )


def points(t: torch.Tensor, y: torch.Tensor) -> Figure:
    """The lesson's points (t, y), (40,) each, as crosses."""
    ax = row(1, width=4.6, height=2.6)[1][0]
    _crosses(ax, t, y)
    ax.set(xlabel="t", ylabel="y")
    return with_alt_text(
        ax, "Forty crosses scattered around a rising straight line, from about minus 3 at t = -1 to 1 at t = 1."
    )


def fitted(t: torch.Tensor, y: torch.Tensor, line: Function) -> Figure:
    """The same points, (40,) each, and the fitted `line`."""
    across = torch.linspace(-1, 1, 21)
    drawn = {"fitted": (across, line(across).detach())}
    ax = curves(None, drawn, names="none", xlabel="t", ylabel="y", title="30 steps of SGD")
    _crosses(ax, t, y)
    return with_alt_text(
        ax,
        "Forty crosses scattered around a rising straight line, which runs through the middle of them from about "
        "minus 3 to 1.",
    )


def three_rates(step: Function, x: torch.Tensor, y: torch.Tensor) -> Figure:
    """The loss in 30 steps of gradient descent on x (N, 2) and y (N,), with three rates; `step` takes one."""
    runs, found = dict[str, Sequence[float]](), dict[float, torch.Tensor]()
    for rate in (0.01, 0.3, 1.1):
        weights, losses = torch.zeros(2), []
        for _ in range(30):
            losses.append(float((x @ weights - y).square().mean()))
            weights = step(weights, x, y, rate)
        runs[f"rate {rate}"], found[rate] = losses, weights
    best = x @ torch.linalg.lstsq(x, y[:, None]).solution[:, 0]
    ax = curves(
        range(30),
        runs,
        log=True,
        xlabel="step",
        ylabel="loss",
        names="legend",
        limits=(0.008, 3e5),
        levels={"best line": float((best - y).square().mean())},
    )
    return with_alt_text(
        ax,
        "Three loss curves over 30 steps on a logarithmic scale. With rate 0.01 the loss falls slowly. With 0.3 it "
        "reaches the loss of the best line, 0.03, after about fifteen steps. With 1.1 it dips at the first step and "
        "then grows without end.",
        f"After 30 steps at the rate 0.3: slope {found[0.3][0]:.2f}, offset {found[0.3][1]:.2f}.".replace("-", "−"),
    )


def overshooting() -> Figure:
    """Four steps down the parabola w² from w = 1, with three rates."""
    figure, axes = row(3, width=2.7, height=2.6)
    for ax, (rate, what) in zip(axes, {0.05: "crawls", 0.4: "arrives", 1.1: "overshoots"}.items(), strict=True):
        path = torch.tensor([(1 - 2 * rate) ** k for k in range(5)])  # the slope of w² is 2w
        _parabola(2.2, "0.6", ax)
        ax.plot(path, path**2, "o-", color=PALETTE[1])
        ax.plot(path[:1], path[:1] ** 2, "o", markersize=10, color=PALETTE[0])
        ax.set(title=f"rate {rate}: {what}", xlabel="w", ylabel="loss $w^2$")
    return with_alt_text(
        figure,
        "Four steps on a parabola, from w = 1. With rate 0.05 they creep towards the minimum at 0. With 0.4 they "
        "arrive there. With 1.1 each step lands on the other side, higher than before.",
        "Each path starts at the large point, w = 1. At the rate 1.1 every step lands higher, on the other side.",
    )


def _parabola(reach: float, colour: str, ax: Axes) -> Axes:
    curve = torch.linspace(-reach, reach, 61)
    ax.plot(curve, curve**2, color=colour)
    return ax


def _crosses(ax: Axes, t: torch.Tensor, y: torch.Tensor) -> None:
    ax.plot(t.tolist(), y.tolist(), "x", markersize=5, color="0.45")
