"""`nudged`, a step: how fast each weight changes with each score, by adding a little to one score at a time."""

import math

import torch

from grading.exercises.exercise import call, step

nudged = step(
    "nudged",
    see="Exercise: nudge each score",
    hints=(
        "Which tensor of shape `(S, S)` holds in row j the scores after score j was raised? What does the softmax "
        "along its last dimension give?",
        "`scores + by * torch.eye(len(scores))` has the nudged scores in its rows. Take the softmax of each row, and "
        "subtract the weights of the scores themselves. Then row j belongs to *score* j, but the result should have "
        "the scores in its columns.",
        "The shape of the code: `weights = ...`, `(S,)`; `moved = ...`, `(S, S)`; `return (<difference> / by).T`.",
    ),
)


@nudged.oracle
def nudged_oracle(scores, by):
    columns = []
    for j in range(len(scores)):
        raised = scores.clone()
        raised[j] = raised[j] + by
        columns.append((raised.softmax(0) - scores.softmax(0)) / by)
    return torch.stack(columns, dim=1)


nudged.example("the worked example", call(torch.tensor([0.0, 0.0]), math.log(3)))
nudged.example("three scores", call(torch.tensor([1.0, 0.0, -1.0]), 0.5))
nudged.example("three scores, lowered", call(torch.tensor([1.0, 0.0, -1.0]), by=-0.25))


@nudged.criterion("every rate")
def _(draw):
    for by in (0.25, 0.5, 1.5):
        yield call(draw.normal(5), by)
    yield call(draw.normal(3) + 40.0, 0.5)
    yield call(draw.normal(4, dtype=torch.float64), 0.1)
    yield call(draw.normal(4), 0.5).does_not_mutate()
