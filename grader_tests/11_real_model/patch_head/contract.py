"""`patch_head`, a step: one head's vectors at one position taken from another run."""

import torch

from grading.exercises.exercise import call, step

patch_head = step(
    "patch_head",
    see="Exercise: patch one head at one position",
    hints=(
        "In `(B, H, T, K)`, which dimension counts the heads, and which the positions? All texts and all K numbers are "
        "replaced.",
        "The shape of the code: a `clone()` of `outputs`, one assignment to `[:, <head>, <position>]`, and `return`.",
    ),
)


@patch_head.oracle
def patch_head_oracle(outputs, clean, head, position):
    heads = torch.arange(outputs.shape[1], device=outputs.device)[:, None, None] == head
    positions = torch.arange(outputs.shape[2], device=outputs.device)[:, None] == position
    return torch.where(heads & positions, clean, outputs)


EXAMPLE = torch.tensor([[[[1.0], [2.0]], [[3.0], [4.0]]]])
patch_head.example("the worked example", call(EXAMPLE, EXAMPLE + 4, 1, 0))
patch_head.example("nothing is changed in place", call(EXAMPLE, EXAMPLE + 4, 0, 1).does_not_mutate())


@patch_head.criterion("one head at one position")
def _(draw):
    yield call(draw.normal(2, 4, 5, 3), draw.normal(2, 4, 5, 3), 1, 3)
    yield call(draw.normal(3, 2, 6, 4), draw.normal(3, 2, 6, 4), 0, 5)
    yield call(draw.normal(1, 5, 3, 2, dtype=torch.float64), draw.normal(1, 5, 3, 2, dtype=torch.float64), 4, 0)
    yield call(draw.normal(4, 3, 2, 5), draw.normal(4, 3, 2, 5), 2, 1).does_not_mutate()
    yield call(draw.normal(2, 3, 4, 5), draw.normal(2, 3, 4, 5), 2, 3).with_gradients()
