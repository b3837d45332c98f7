"""`shuffle_error`, a step: how far a layer is from shuffling its output with its words."""

import torch

from grading.exercises.exercise import call, step

shuffle_error = step(
    "shuffle_error",
    see="Exercise: the shuffle test (extra)",
    hints=(
        "The second call was given `x[:, order]`. What should its output be, written with `output` and `order`?",
        "Compare `output[:, order]` with `output_of_shuffled`: absolute differences, then the largest.",
    ),
)


@shuffle_error.oracle
def shuffle_error_oracle(output, output_of_shuffled, order):
    expected = torch.index_select(output, 1, order)
    return torch.linalg.vector_norm(expected - output_of_shuffled, ord=torch.inf)


THREE = torch.tensor([[[1.0], [2.0], [3.0]]])
ORDER = torch.tensor([1, 2, 0])
shuffle_error.example("the worked example", call(THREE, torch.tensor([[[2.0], [3.0], [1.0]]]), ORDER))
shuffle_error.example("an output that stays in place", call(THREE, THREE, ORDER))
shuffle_error.example("only one entry differs", call(THREE, torch.tensor([[[2.0], [5.0], [1.0]]]), ORDER))


@shuffle_error.criterion("the largest difference")
def _(draw):
    for batch, tokens, width in ((2, 5, 3), (3, 4, 2), (1, 7, 4)):
        yield call(draw.normal(batch, tokens, width), draw.normal(batch, tokens, width), draw.permutation(tokens))
    output, order = draw.normal(2, 6, 3), draw.permutation(6)
    yield call(output, output[:, order], order).does_not_mutate()
