"""`swap_neighbours`: the two entries of each pair, exchanged."""

import torch

from grading.exercises.exercise import call, step

swap_neighbours = step(
    "swap_neighbours",
    forbidden=("stack", "cat", "roll", "vmap"),
    see="Exercise: neighbours swap places (extra)",
    hints=(
        "Cut the list into pairs, one per row. What has to happen in each row? And at the end?",
        "`reshape(-1, 2)` makes the pairs, `flip` reverses along a dimension, `reshape(-1)` makes a list again.",
        "Outline of the code: `return x.reshape(<pairs>).flip(<dimension>).reshape(<a list>)`.",
    ),
)


@swap_neighbours.oracle
def swap_neighbours_oracle(x):
    return torch.stack([x[1::2], x[0::2]], dim=-1).flatten()


swap_neighbours.example("three pairs", call(torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])))


@swap_neighbours.criterion("the entries of each pair exchanged")
def _(draw):
    yield call(draw.normal(8))
    yield call(draw.normal(2))
