"""`through_softmax`, a step: softmax's backward pass, row by row."""

import torch

from grading.exercises.exercise import call, step

through_softmax = step(
    "through_softmax",
    forbidden=(".*softmax.*", "grad", "backward", "jacobian", "[vj]vp"),
    see="Exercise: through softmax (extra)",
    hints=(
        "What is the average of the gradients of a row, if each counts by its weight?",
        "The shape of the code: `average = (<weights times gradients>).sum(-1, keepdim=True)`, then the weights times "
        "the difference from it.",
    ),
)


@through_softmax.oracle
def through_softmax_oracle(weights, grad_weights):
    average = torch.einsum("...s,...s->...", weights, grad_weights)
    return weights * (grad_weights - average.unsqueeze(-1))


def drawn(draw, *shape, dtype=torch.float32):
    return torch.softmax(draw.normal(*shape, dtype=dtype), dim=-1), draw.normal(*shape, dtype=dtype)


through_softmax.example("two keys", call(torch.tensor([0.25, 0.75]), torch.tensor([4.0, 8.0])))
through_softmax.example(
    "two rows", call(torch.tensor([[0.5, 0.5, 0.0], [0.2, 0.2, 0.6]]), torch.tensor([[1.0, 3.0, 9.0], [5.0, 5.0, 0.0]]))
)


@through_softmax.criterion("the gradient with respect to the scores")
def _(draw):
    yield call(*drawn(draw, 5))
    yield call(*drawn(draw, 3, 4))
    yield call(*drawn(draw, 4, 3))
    yield call(*drawn(draw, 2, 3, 5))
    yield call(*drawn(draw, 3, 6, dtype=torch.float64))
    yield call(*drawn(draw, 3, 4)).does_not_mutate()
