"""`HeadLayers`: what `__init__` of multi-head attention makes, four layers and dropout."""

import torch
from torch import nn

from grading.exercises.exercise import call, exercise

from ...shared import BUILT_IN
from .cases import called, dropping, named, rate, weights

HeadLayers = exercise(
    "HeadLayers",
    see="Exercise: `HeadLayers(d_model, n_heads, dropout=0.0)`",
    forbidden=BUILT_IN,
    hints=(
        "What did `__init__` of your `SelfAttention` do? Which layer is new, and which widths are different?",
        "Call the parent's `__init__` first. Then refuse a number of heads that does not divide `d_model`. Then store "
        "four layers from `d_model` to `d_model`, without bias, and one for dropout, each as an attribute.",
        "`super().__init__()`, `if … or d_model % …: raise ValueError(…)`, `self.W_q = nn.Linear(…, …, bias=…)` and "
        "three more of this kind, and `self.dropout = nn.Dropout(…)`.",
    ),
)


@HeadLayers.oracle
class HeadLayersOracle(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"n_heads is {n_heads} and does not divide d_model, {d_model}")
        for name in ("W_q", "W_k", "W_v", "W_o"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=False))
        self.dropout = nn.Dropout(dropout)


# Small whole numbers: no matrix is symmetric, no two are equal
PAPER = {
    "W_q.weight": torch.tensor([[1.0, 2], [0, 1]]),
    "W_k.weight": torch.tensor([[0.0, 1], [3, 0]]),
    "W_v.weight": torch.tensor([[1.0, 0], [1, 1]]),
    "W_o.weight": torch.tensor([[2.0, 0], [1, 0]]),
}
WORDS = torch.tensor([[[1.0, 10.0], [0.0, 1.0]]])


@HeadLayers.example("the four layers, called", check_types=True)
def _():
    yield called(PAPER, 2, WORDS)
    yield called({name: weight.double() for name, weight in PAPER.items()}, 1, WORDS.double())


@HeadLayers.example("no other parameters")
def _():
    yield named(2, 1, PAPER)


@HeadLayers.example("dropout")
def _():
    yield rate(2)
    yield rate(2, 0.25)


HeadLayers.example("a width of 10 for 4 heads", call(10, 4).raises("d_model", "n_heads"))


@HeadLayers.criterion("four layers, by name, each with a weight (D, D) of its own", points=1.25)
def _(draw):
    yield called(weights(draw, 6), 2, draw.normal(2, 3, 6))
    yield called(weights(draw, 8), 4, draw.normal(1, 5, 8), dropout=0.3)
    yield called(weights(draw, 5), 5, draw.normal(3, 2, 5))
    yield called(weights(draw, 7), 1, draw.normal(2, 4, 7))
    yield called(weights(draw, 6), 3, draw.normal(2, 3, 6)).with_gradients()


@HeadLayers.criterion("its parameters: four weights (D, D), nothing else", points=0.5, tries="parameters")
def _(draw):
    for D, n_heads in ((6, 2), (5, 1), (12, 4)):
        yield named(D, n_heads, weights(draw, D))


@HeadLayers.criterion("dropout with the given probability", points=0.75, tries="rate")
def _(draw):
    yield rate(2)
    yield rate(3, round(draw.number(0.1, 0.4), 2))
    yield rate(6, dropout=round(draw.number(0.5, 0.9), 2))
    yield rate(1, 0.0)
    yield dropping(2, 0.0, draw.normal(4, 5), training=True)
    yield dropping(3, 0.6, draw.normal(4, 5), training=False)


@HeadLayers.criterion("float64 stays float64", points=0.25, check_types=True)
def _(draw):
    yield called(weights(draw, 6), 3, draw.normal(2, 3, 6))
    yield called(weights(draw, 6, torch.float64), 2, draw.normal(2, 3, 6, dtype=torch.float64))


@HeadLayers.criterion("ValueError unless n_heads divides d_model", points=0.5, tries="divides")
def _(draw):
    yield call(12, 5).raises("d_model", "n_heads")
    yield call(d_model=10, n_heads=4).raises("d_model", "n_heads")
    yield call(4, 8, dropout=0.1).raises("d_model", "n_heads")
    yield call(12, 4).does_not_raise()


@HeadLayers.criterion("refuses 0 heads, fewer, and parts of heads", points=0.5, tries="least")
def _(draw):
    for wrong in (0, -3):
        yield call(12, wrong).raises("d_model", "n_heads")
    yield call(12, 2.5).raises("d_model", "n_heads").tries("divides")
    yield call(12, 3).does_not_raise()


@HeadLayers.sizes(points=0.25, H=(1, 3, 8), Dk=(1, 4, 16))
def _(draw, H, Dk):
    return called(weights(draw, H * Dk), H, draw.normal(2, 3, H * Dk))
