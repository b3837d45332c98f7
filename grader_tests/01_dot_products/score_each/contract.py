"""`score_each`, an exercise without points: one query dotted with each of many keys, in a loop."""

import torch

from grading.exercises.exercise import call, step

from ..common import PRODUCTS

score_each = step(
    "score_each",
    see="Exercise: score every key",
    forbidden=PRODUCTS,
    hints=(
        "How many numbers do you get for six keys? Where do you keep them until the loop is done?",
        "`for key in keys` goes through the rows. Collect one dot product per key in a list, and make a tensor of it "
        "at the end, after the loop.",
        "The shape of the code: `scores = []`, `for key in keys:`, `scores.append(<a dot product>)`, and "
        "`return torch.stack(<the list>)`.",
    ),
)


@score_each.oracle
def score_each_oracle(query, keys):
    return keys @ query


score_each.example(
    "the worked example", call(torch.tensor([1.0, 2.0]), torch.tensor([[3.0, 4.0], [0.0, 5.0], [-1.0, 1.0]]))
)
score_each.example(
    "two keys, and gradients",
    call(torch.tensor([1.0, -2.0, 0.5]), torch.tensor([[2.0, 1.0, 4.0], [-1.0, 3.0, 2.0]])).with_gradients(),
)
score_each.example("a single key", call(torch.tensor([2.0, -1.0]), torch.tensor([[3.0, 5.0]])))


@score_each.criterion("one dot product per key")
def _(draw):
    yield call(draw.normal(4), draw.normal(6, 4))
    yield call(draw.normal(3), draw.normal(3, 3))
    yield call(draw.normal(5), draw.normal(1, 5))
    yield call(draw.normal(3), draw.normal(4, 3)).with_gradients()
