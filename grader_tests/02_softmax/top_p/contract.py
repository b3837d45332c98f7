"""`top_p`, an exercise without points: the smallest set of likeliest tokens with a given share."""

import torch

from grading.exercises.exercise import call, step

top_p = step(
    "top_p",
    see="Exercise: `top_p(probs, share)` (extra)",
    hints=(
        "In (0.1, 0.5, 0.4) with a share of 0.6, which one do you take first, which second, and when do you stop?",
        "Sort from the likeliest down and add up. Keep a probability if the sum *before* it is still below the share. "
        "The likeliest is always kept.",
        "`torch.sort` with `descending=True` gives values and positions; `cumsum` minus the values is the sum before "
        "each one. Set the others to 0, put all back with `scatter`, and divide by the new sum.",
    ),
)


@top_p.oracle
def top_p_oracle(probs, share):
    if not 0 < share <= 1:
        raise ValueError(f"share is {share}; it must be above 0 and at most 1")
    ordered, places = probs.sort(dim=-1, descending=True)
    kept = torch.where(ordered.cumsum(-1) - ordered < share, ordered, 0.0)
    back = torch.zeros_like(probs).scatter(-1, places, kept)
    return back / back.sum(-1, keepdim=True)


def drawn(draw, *shape):
    """Probabilities, multiples of 1/64, without a partial sum near a multiple of 0.1."""
    rows = [[32.0, 17.0, 9.0, 4.0, 2.0][: shape[-1]] for _ in range(torch.Size(shape[:-1]).numel())]
    mixed = torch.stack([torch.tensor(row)[draw.permutation(len(row))] for row in rows])
    return (mixed / mixed.sum(-1, keepdim=True)).reshape(shape)


top_p.example("two of three", call(torch.tensor([0.125, 0.5, 0.375]), 0.75))
top_p.example("only the likeliest", call(torch.tensor([0.25, 0.625, 0.125]), 0.1))
top_p.example("all of them", call(torch.tensor([0.25, 0.75]), 1.0))
top_p.example("no share", call(torch.tensor([0.25, 0.75]), 0.0).raises("share"))


@top_p.criterion("which are kept", points=1)
def _(draw):
    for share in (0.3, 0.6, 0.85, 0.95):
        yield call(drawn(draw, 5), share)
    yield call(drawn(draw, 5), 1.0)
    yield call(torch.tensor([0.1875, 0.5, 0.3125]), 0.5)  # the first reaches the share exactly


@top_p.criterion("row by row", points=0.5)
def _(draw):
    yield call(drawn(draw, 3, 5), 0.6).does_not_mutate()
    yield call(drawn(draw, 1, 1, 4), 0.6)
    yield call(drawn(draw, 2, 1), 0.6)
    yield call(drawn(draw, 2, 3, 4), share=0.9).with_gradients()
    yield call(drawn(draw, 4, 5).double(), share=0.6)
    yield call(drawn(draw, 3, 5), 0.6).device_only()


@top_p.criterion("ValueError unless 0 < share <= 1", points=0.5)
def _(draw):
    yield call(drawn(draw, 4), 0.0).raises("share")
    yield call(drawn(draw, 4), -0.5).raises("share")
    yield call(drawn(draw, 4), 1.5).raises("share")
    yield call(drawn(draw, 4), 1.0).does_not_raise()
    yield call(drawn(draw, 4), 0.2).does_not_raise()
