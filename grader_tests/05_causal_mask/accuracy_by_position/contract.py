"""`accuracy_by_position`, a step: the share of right predictions at each position."""

import torch

from grading.exercises.exercise import call, step

accuracy_by_position = step(
    "accuracy_by_position",
    see="Exercise: accuracy by position (extra)",
    hints=(
        "Which token does the model predict at a position? Over which dimension do you average?",
        "`logits.argmax(-1)` is (B, T). Compare it with `targets`, turn the result into numbers with "
        "`.float()`, and average over the sentences.",
    ),
)


@accuracy_by_position.oracle
def accuracy_by_position_oracle(logits, targets):
    return (logits.max(-1).indices == targets).to(torch.float32).mean(0)


accuracy_by_position.example(
    "the worked example", call(torch.tensor([[[0.0, 5.0]], [[1.0, 0.0]]]), torch.tensor([[1], [1]]))
)
accuracy_by_position.example(
    "two sentences, three positions",
    call(
        torch.tensor([[[0.0, 5.0], [2.0, 1.0], [0.0, 1.0]], [[1.0, 0.0], [3.0, 1.0], [0.0, 2.0]]]),
        torch.tensor([[1, 0, 0], [1, 0, 1]]),
    ),
)


@accuracy_by_position.criterion("one share per position")
def _(draw):
    yield call(draw.normal(7, 4, 3), draw.integers(0, 3, 7, 4))
    yield call(draw.normal(3, 5, 2), draw.integers(0, 2, 3, 5)).does_not_mutate()
