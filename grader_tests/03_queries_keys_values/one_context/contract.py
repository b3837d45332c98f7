"""`one_context`: the context vector of one word, by the softmax of its dot products."""

import torch

from grading.exercises.exercise import call, step

one_context = step(
    "one_context",
    see="Exercise: the context vector of one word",
    hints=(
        "Which numbers say how similar word `i` is to each word of the sentence? How many are there?",
        "Scores (T,), then their softmax, then the words, each times its weight, added up.",
        "`scores = x @ <word i>`, `weights = softmax of scores`, `return weights @ ...`.",
    ),
)


@one_context.oracle
def one_context_oracle(x, i):
    weights = torch.softmax(torch.einsum("td,d->t", x, x[i]), 0)
    return torch.einsum("t,td->d", weights, x)


one_context.example("the worked example", call(torch.tensor([[1.0, 0.0], [0.0, 1.0]]), 0))
one_context.example("the second of three words", call(torch.tensor([[1.0, 0.5], [-1.0, 2.0], [0.0, -1.0]]), 1))


@one_context.criterion("every position of a sentence")
def _(draw):
    yield call(draw.normal(6, 3), 0)
    yield call(draw.normal(4, 5), 2)
    yield call(draw.normal(3, 3), 2)
    yield call(draw.normal(1, 4), 0)
    yield call(draw.normal(5, 4, scale=20.0), 3)
