"""`decoder_mask`, a step: the causal mask and the padding mask, combined."""

import torch

from grading.exercises.exercise import call, step

from ...shared import BUILT_IN

decoder_mask = step(
    "decoder_mask",
    forbidden=BUILT_IN,
    see="Exercise: both masks at once",
    hints=(
        "There are two reasons to block a key. Which of your functions give the two masks, and which operator combines "
        "them?",
        "The shapes (T, T) and (B, 1, 1, T) broadcast to (B, 1, T, T). Make both on the device of `lengths`.",
    ),
)


@decoder_mask.oracle
def decoder_mask_oracle(lengths, T):
    rows = [[[j > i or j >= int(n) for j in range(T)] for i in range(T)] for n in lengths]
    return torch.tensor(rows, device=lengths.device)[:, None]


decoder_mask.example("lengths 2 and 3, three positions", call(torch.tensor([2, 3]), 3), check_types=True)
decoder_mask.example("lengths 4, 0 and 1, four positions", call(torch.tensor([4, 0, 1]), 4))


@decoder_mask.criterion("the future and the padding")
def _(draw):
    yield call(torch.tensor([2, 5, 1, 4]), 7)
    yield call(1 + draw.permutation(6)[:3], 6)
    yield call(draw.integers(0, 6, 5), 5).does_not_mutate()
