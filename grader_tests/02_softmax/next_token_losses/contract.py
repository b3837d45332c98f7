"""`next_token_losses`, a step: minus the logarithm of the weight of each next token."""

import torch

from grading.exercises.exercise import call, step

from ..common import NOT_ALLOWED

next_token_losses = step(
    "next_token_losses",
    see="Exercise: the losses of a text (extra)",
    forbidden=(*NOT_ALLOWED, "nll_loss", "NLLLoss"),
    hints=(
        "Which function of yours gives the logarithms of all weights at once? Which one do you need in each row?",
        "`log_softmax(logits)` is `(T, N)`. Take column `targets[t]` from row `t`, and change the sign.",
        "The shape of the code: `logarithms = log_softmax(<logits>)`, then `return -logarithms[<0 to T - 1>, "
        "<targets>]`.",
    ),
)


@next_token_losses.oracle
def next_token_losses_oracle(logits, targets):
    return torch.nn.functional.cross_entropy(logits, targets, reduction="none")


next_token_losses.example(
    "the worked example", call(torch.tensor([[1.0, 3.0], [1.0, 1.0]]).log(), torch.tensor([1, 0]))
)
next_token_losses.example(
    "three positions, four tokens",
    call(torch.tensor([[2.0, 0.0, -1.0, 1.0], [0.5, -3.0, 0.5, 2.0], [0.0, 1.0, 0.0, 0.0]]), torch.tensor([3, 1, 0])),
)
next_token_losses.example("120 behind the best", call(torch.tensor([[0.0, -120.0]]), torch.tensor([1])))


@next_token_losses.criterion("one loss per position")
def _(draw):
    yield call(draw.normal(5, 7), draw.integers(0, 7, 5))
    yield call(draw.normal(4, 3) + 300.0, draw.integers(0, 3, 4))
    yield call(draw.normal(3, 6), draw.integers(0, 6, 3)).does_not_mutate()
    yield call(draw.normal(4, 5), draw.integers(0, 5, 4)).with_gradients()
