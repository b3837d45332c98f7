"""`softmax_jacobian`, a step: the derivatives of all weights with respect to all scores."""

import torch

from grading.exercises.exercise import call, step

softmax_jacobian = step(
    "softmax_jacobian",
    see="Exercise: the Jacobian (extra)",
    hints=(
        "Which part of the formula depends on the row only, and which on the column only? What shapes make them "
        "broadcast to `(S, S)`?",
        "`weights[:, None]` has the shape `(S, 1)`: one number per row. `weights` alone broadcasts as a row.",
        "The shape of the code: `<weight of the row> * (<identity matrix> - <weight of the column>)`.",
    ),
)


@softmax_jacobian.oracle
def softmax_jacobian_oracle(weights):
    return torch.diag(weights) - torch.outer(weights, weights)


softmax_jacobian.example("the worked example", call(torch.tensor([0.25, 0.75])))
softmax_jacobian.example("three weights", call(torch.tensor([0.5, 0.2, 0.3])))


@softmax_jacobian.criterion("every derivative")
def _(draw):
    yield call(draw.distribution(5))
    yield call(draw.distribution(3, dtype=torch.float64))
    yield call(draw.distribution(4)).does_not_mutate()
