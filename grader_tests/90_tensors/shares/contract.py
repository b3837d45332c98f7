"""`shares`: every row divided by its sum."""

import torch

from grading.exercises.exercise import call, step

shares = step(
    "shares",
    forbidden=("normalize", "soft_?max", "softmin", "stack", "cat", "vmap"),
    see="Exercise: shares of a whole",
    hints=(
        "What are the shares of 1 and 3? What did you divide by?",
        "Each row needs its own sum, in a shape that stretches along the row.",
        "Outline of the code: `return x / <the sum along the last dimension, kept>`.",
    ),
)


@shares.oracle
def shares_oracle(x):
    return x / x.sum(-1).unsqueeze(-1)


shares.example("two rows", call(torch.tensor([[1.0, 3.0], [2.0, 2.0]])))
shares.example("two rows of three", call(torch.tensor([[1.0, 3.0, 4.0], [2.0, 2.0, 1.0]])))
shares.example("one row", call(torch.tensor([6.0, 2.0])))


@shares.criterion("every row divided by its own sum")
def _(draw):
    yield call(draw.uniform(3, 5, low=0.5, high=4.0))
    yield call(draw.uniform(4, 4, low=0.5, high=4.0))
    yield call(draw.uniform(2, 3, 4, low=0.5, high=4.0))
    yield call(draw.uniform(6, low=0.5, high=4.0))
