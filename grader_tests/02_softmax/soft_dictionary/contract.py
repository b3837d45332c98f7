"""`soft_dictionary`, a step: the mean of all values, weighted by how close the keys are to the query."""

import torch

from grading.exercises.exercise import call, step

soft_dictionary = step(
    "soft_dictionary",
    see="Exercise: a soft dictionary",
    hints=(
        "Three lines: scores, weights, output. What is the shape of each?",
        "The scores are minus the squares of `queries[:, None] - keys`. Each row of weights sums to 1, and multiplies "
        "the values: a matrix times a vector.",
        "The shape of the code: `scores = -(<all differences>) ** 2`, `weights = softmax_with_temperature(<scores>, "
        "<temperature>)`, `return weights @ <values>`. Mind the parentheses: the minus is outside the square.",
    ),
)


@soft_dictionary.oracle
def soft_dictionary_oracle(queries, keys, values, temperature):
    scores = -((queries[:, None] - keys) ** 2)
    return torch.softmax(scores / temperature, dim=-1) @ values


keys, values = torch.tensor([1.0, 3.0]), torch.tensor([10.0, 20.0])
soft_dictionary.example("halfway between two keys", call(torch.tensor([2.0]), keys, values, 1.0))
soft_dictionary.example("at the first key", call(torch.tensor([1.0]), keys, values, 1.0))
soft_dictionary.example("three queries, two keys", call(torch.tensor([0.0, 1.5, 4.0]), keys, values, temperature=2.0))


@soft_dictionary.criterion("a weighted mean of the values")
def _(draw):
    for temperature in (0.3, 1.0, 5.0):
        yield call(draw.normal(5), draw.normal(4), draw.normal(4), temperature)
    yield call(20.0 + draw.normal(3), draw.normal(6), draw.normal(6), 0.5)
    yield call(draw.normal(2), draw.normal(3), draw.normal(3), 2.0).does_not_mutate()
