"""`split_heads`: (B, T, D) cut into heads, (B, H, T, D // H)."""

import torch

from grading.exercises.exercise import call, exercise, non_contiguous

from ...shared import BUILT_IN
from ..common import SPLITTING

split_heads = exercise(
    "split_heads",
    see=SPLITTING,
    forbidden=BUILT_IN,
    hints=(
        "Of one word with D = 6 numbers and H = 2 heads, which numbers go to head 0? Which index of the result counts "
        "the heads, and which one the numbers inside a head?",
        "First cut the last dimension in two, heads and numbers of a head, and leave B and T alone. The words then "
        "still come before the heads: swap these two.",
        "Raise a ValueError that names `n_heads` unless the remainder of `D / n_heads` is 0. "
        "Then `x.reshape(B, T, …, …)`, followed by one `.transpose(…, …)`.",
    ),
)


@split_heads.oracle
def split_heads_oracle(x, n_heads):
    width = x.shape[-1]
    if n_heads < 1 or width % n_heads:
        raise ValueError(f"n_heads is {n_heads} and does not divide {width}")
    size = width // n_heads
    return torch.stack([x[..., h * size : (h + 1) * size] for h in range(n_heads)], dim=1)


split_heads.example(
    "two words, two heads", call(torch.tensor([[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]]), 2), check_types=True
)
split_heads.example(
    "two sentences of three words, two heads of width 4",
    call(torch.arange(48.0).view(2, 3, 8), n_heads=2).with_gradients(),
)
split_heads.example("a width of 10 for 4 heads", call(torch.zeros(1, 2, 10), 4).raises("n_heads", "x"))


@split_heads.criterion("each head gets its own numbers of every word", points=1.75)
def _(draw):
    yield call(draw.normal(2, 5, 12), 3)
    yield call(draw.normal(3, 4, 10), n_heads=2)
    yield call(draw.normal(2, 6, 6), 6).tries("single")
    yield call(draw.normal(3, 5, 7), 1).tries("single")
    yield call(draw.normal(1, 1, 8), 2).tries("single")
    yield call(draw.normal(2, 3, 1), 1).tries("single")


@split_heads.criterion("float64, any layout and device, x left alone", points=0.5, check_types=True)
def _(draw):
    # Entries only move, so they must be exact: float64's usual tolerance would not show a detour by float32
    yield call(draw.normal(3, 5, 8, dtype=torch.float64), 4).tolerance(1e-12)
    yield call(non_contiguous(draw.normal(2, 7, 6)), 2)
    yield call(draw.normal(5, 2, 12).transpose(0, 1), 4).does_not_mutate()
    yield call(draw.normal(2, 3, 6), 2).device_only()


@split_heads.criterion("gradients", points=0.5)
def _(draw):
    yield call(draw.normal(2, 5, 12), 3).with_gradients()


@split_heads.criterion("ValueError unless n_heads divides D", points=0.5, tries="divides")
def _(draw):
    yield call(draw.normal(2, 3, 10), 4).raises("n_heads", "x")
    yield call(draw.normal(3, 2, 11), n_heads=5).raises("n_heads", "x")
    yield call(draw.normal(2, 3, 4), 8).raises("n_heads", "x")
    yield call(draw.normal(4, 8, 10), 4).raises("n_heads", "x")  # B and T are divisible, D is not
    yield call(draw.normal(2, 3, 12), 4).does_not_raise()


@split_heads.criterion("refuses 0 heads, fewer, and parts of heads", points=0.5, tries="least")
def _(draw):
    for wrong in (0, -3):
        yield call(draw.normal(2, 3, 12), wrong).raises("n_heads", "x")
    yield call(draw.normal(2, 3, 12), 2.5).raises("n_heads", "x").tries("divides")
    yield call(draw.normal(2, 3, 12), 3).does_not_raise()


@split_heads.sizes(points=0.25, B=(1, 2, 50), T=(1, 5, 100), H=(1, 3, 16), Dk=(1, 4, 32))
def _(draw, B, T, H, Dk):
    return call(draw.normal(B, T, H * Dk), H)
