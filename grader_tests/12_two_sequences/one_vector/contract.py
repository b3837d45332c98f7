"""`one_vector`, a step: the mean of a memory over its positions, without padding."""

import torch

from grading.exercises.exercise import call, step

one_vector = step(
    "one_vector",
    see="Exercise: one vector (extra)",
    hints=(
        "By what do you divide the sum of a sentence's vectors: by S, or by the number of its words?",
        "Set the padded vectors to 0 with `masked_fill`, sum over the positions, and divide by the number of positions "
        "that are not padding. `keepdim=True` keeps the dimension of the positions.",
        "The shape of the code: `open = ~source_mask[..., None]`, `(memory * open).sum(<dim>, keepdim=True) / "
        "open.sum(<dim>, keepdim=True)`.",
    ),
)


@one_vector.oracle
def one_vector_oracle(memory, source_mask):
    return torch.stack([rows[~padded].mean(0, keepdim=True) for rows, padded in zip(memory, source_mask, strict=True)])


NONE = torch.tensor([[False, False, False]])

one_vector.example(
    "the worked example",
    call(torch.tensor([[[1.0, 2.0], [3.0, 6.0], [9.0, 9.0]]]), torch.tensor([[False, False, True]])),
)
one_vector.example("no padding", call(torch.tensor([[[1.0, 2.0], [3.0, 6.0], [8.0, 4.0]]]), NONE))


def padded(lengths, S):
    """A mask (B, S), True from each length on."""
    return torch.arange(S) >= torch.tensor(lengths)[:, None]


@one_vector.criterion("the mean over the positions that are not padding")
def _(draw):
    yield call(draw.normal(3, 5, 4), padded([2, 5, 4], 5))
    yield call(draw.normal(2, 7, 3), padded([1, 6], 7))
    yield call(draw.normal(4, 2, 6), padded([2, 2, 2, 2], 2))
    yield call(draw.normal(2, 4, 5), padded([3, 1], 4)).does_not_mutate()
    yield call(draw.normal(2, 6, 3), padded([4, 6], 6)).with_gradients()
