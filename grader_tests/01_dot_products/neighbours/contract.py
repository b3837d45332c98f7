"""`neighbours`, a step: the rows of a table with the largest cosines with one of its rows."""

import torch

from grading.exercises.exercise import call, step

neighbours = step(
    "neighbours",
    see="Exercise: neighbours of a word (extra)",
    hints=(
        "Your `cosine_similarity` broadcasts. What does it return for one row and the whole table?",
        "Sort the cosines in descending order: `argsort` returns indices. Which index comes first, and do you want it?",
        "The shape of the code: `order = <cosines with row i>.argsort(descending=True)`, then `order = order[order != "
        "i]`, "
        "and return the first `count`.",
    ),
)


@neighbours.oracle
def neighbours_oracle(i, table, count):
    cosines = torch.cosine_similarity(table[i], table, dim=-1)
    order = cosines.argsort(descending=True)
    return order[order != i][:count]


FIVE = torch.tensor([[1.0, 0.0], [0.0, 1.0], [9.0, 8.0], [-2.0, 1.0], [0.2, 0.1]])
neighbours.example("the worked example", call(0, FIVE[:3], 2))
neighbours.example("five vectors of different lengths", call(0, FIVE, 3))
neighbours.example("the nearest of the last", call(4, FIVE, 1))


def spread(draw, rows, width):
    """A table of vectors with different lengths, whose cosines with each other differ clearly."""
    turns = torch.cumsum(0.2 + 0.3 * draw.uniform(rows), 0)[draw.permutation(rows)] / rows * 3
    plane = torch.stack([turns.cos(), turns.sin()], -1)
    return torch.cat([plane, torch.zeros(rows, width - 2)], -1) * draw.uniform(rows, 1, low=0.3, high=4.0)


@neighbours.criterion("the largest cosines, without the word itself")
def _(draw):
    yield call(2, spread(draw, 7, 3), 4)
    yield call(0, spread(draw, 6, 4), 5)
    yield call(5, spread(draw, 9, 2), 1)
    yield call(3, spread(draw, 8, 5), 2)
