"""`top_k`, an exercise without points: probabilities among the k likeliest tokens, ties included."""

import torch

from grading.exercises.exercise import call, non_contiguous, step

top_k = step(
    "top_k",
    see="Exercise: `top_k(logits, k)` (extra)",
    hints=(
        "Of the logits (1, 4, 2, 3) and with k = 2: which is the smallest that is kept? How does that one "
        "number decide whether a logit is kept?",
        "The k-th greatest logit of a row is its threshold: smaller ones are dropped, equal ones kept. To "
        "drop is to give a share of exactly 0 *before* the others are made to sum to 1: lesson 5 says by which logit.",
        "Refuse a k below 1. `torch.topk` gives the greatest of each row in order, but no more than there are: "
        "`min(k, N)`. Its last column is the threshold, as (..., 1); fill what is below it, then softmax.",
    ),
)


@top_k.oracle
def top_k_oracle(logits, k):
    if k < 1:
        raise ValueError(f"k is {k}, and must be at least 1")
    greater = (logits[..., None, :] > logits[..., :, None]).sum(-1)
    return torch.softmax(logits.masked_fill(greater >= k, -torch.inf), dim=-1)


def drawn(draw, *shape):
    """Logits that are halves of whole numbers, different in each row; rows differ in level."""
    rows = torch.Size(shape[:-1]).numel()
    heights = draw.permutation(rows).float() * 3.0
    each = [draw.permutation(shape[-1]) * 0.5 - height for height in heights]
    return torch.stack(each).reshape(shape)


PAPER = torch.tensor([1.0, 4.0, 2.0, 3.0]).log()
top_k.example("two of four", call(PAPER, 2))
top_k.example("a tie for the only place", call(torch.tensor([2.0, 2.0, 1.0]).log(), 1))
top_k.example("more than there are", call(PAPER, k=9))
top_k.example("two texts", call(torch.stack([PAPER, PAPER.flip(0) - 5.0]), 3))
top_k.example("none at all", call(PAPER, 0).raises("k"))
top_k.example("float64 stays float64", call(PAPER.double(), 2), check_types=True)


@top_k.criterion("which are kept, and their shares", points=0.75)
def _(draw):
    for k in (1, 2, 4):
        yield call(drawn(draw, 6), k)
    yield call(drawn(draw, 5), 5)
    yield call(drawn(draw, 4), k=draw.integer(5, 9))
    yield call(drawn(draw, 5) + 300.0, 3)
    yield call(torch.tensor([-torch.inf, 1.0, -0.5, -torch.inf, 2.0])[draw.permutation(5)], 2)


@top_k.criterion("row by row", points=0.5)
def _(draw):
    yield call(drawn(draw, 4, 5), 2)
    yield call(drawn(draw, 2, 3, 4), k=3).with_gradients()
    yield call(drawn(draw, 5, 5), 2).does_not_mutate()


@top_k.criterion("equals are kept together", points=0.25)
def _(draw):
    yield call(torch.tensor([3.0, 1.5, 1.5, 0.0, 1.5])[draw.permutation(5)], 2)
    yield call(torch.tensor([[1.0, 1.0, 0.0, 0.5], [2.0, -1.0, 2.0, 2.0]]), 1)
    yield call(torch.zeros(2, 6), 3)


@top_k.criterion("ValueError if k < 1", points=0.25)
def _(draw):
    yield call(drawn(draw, 4), 0).raises("k")
    yield call(drawn(draw, 4), -draw.integer(1, 4)).raises("k")
    yield call(drawn(draw, 4), 1).does_not_raise()


@top_k.criterion("float64, any layout and device", points=0.25, check_types=True)
def _(draw):
    yield call(drawn(draw, 5), 2)
    yield call(drawn(draw, 5).double(), 2)
    yield call(non_contiguous(drawn(draw, 4, 5)), 3)
    yield call(drawn(draw, 3, 5), 2).device_only()
