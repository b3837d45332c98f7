"""`padding_mask`, a step: True at positions at or past each sentence's length."""

import torch

from grading.exercises.exercise import EXERCISE, Script, call, helper, non_contiguous, step, student

from ...shared import BUILT_IN

padding_mask = step(
    "padding_mask",
    forbidden=BUILT_IN,
    see="Exercise: `padding_mask(lengths, S)` (extra)",
    hints=(
        "Which of the positions 0, 1, 2 and 3 hold padding in a sentence of length 2? Of length 0? Of length 4?",
        "Compare a row of positions with a column of numbers, as in `causal_mask`. Here the numbers are the lengths.",
        "Make `torch.arange` of S positions on the device of `lengths`, and compare it with `lengths[:, "
        "None]`, which gives (B, S). Then add two dimensions of size 1 in the middle, for heads and queries.",
    ),
)


@padding_mask.oracle
def padding_mask_oracle(lengths, S):
    rows = [[j >= int(n) for j in range(S)] for n in lengths]
    return torch.tensor(rows, device=lengths.device)[:, None, None, :]


padding_mask.example("lengths 1 and 3", call(torch.tensor([1, 3]), 3), check_types=True)
padding_mask.example("lengths 4, 0 and 2, in five columns", call(torch.tensor([4, 0, 2]), 5))


@padding_mask.criterion("True at and past each length")
def _(draw):
    yield call(torch.tensor([2, 5, 1, 4]), 7)
    yield call(1 + draw.permutation(8)[:5], 9)
    yield call(lengths=draw.integers(1, 6, 8), S=6)
    yield call(non_contiguous(torch.tensor([3, 1, 2])), 4)
    s = Script(before=torch.tensor([4, 1, 2]), lengths=torch.tensor([2, 3, 5]))
    s.call(EXERCISE, s.before, 6)
    s.call(EXERCISE, s.lengths, 6, name="result")
    yield s.case().label("padding_mask(lengths (3,), 6), after a call with other lengths")
    yield call(draw.integers(100, 290, 3), 300)


@padding_mask.criterion("from empty to full")
def _(draw):
    yield call(torch.tensor([5, 0, 3]), 5)
    yield call(torch.tensor([0]), 4)
    yield call(torch.tensor([6]), 6)
    yield call(torch.tensor([0, 1]), 1)
    yield call(draw.integers(0, 12, 7), 11)


@padding_mask.criterion("boolean, on the device of the lengths", check_types=True)
def _(draw):
    yield call(torch.tensor([1, 4, 2]), 6)
    script = Script(lengths=torch.tensor([2, 4, 1]))
    script.call(helper("elsewhere"), student("padding_mask"), script.lengths, 5)
    made = script.case().check_with("mask_on_requested_device")
    yield made.label("padding_mask(lengths (3,), 5), while another device is PyTorch's default")


@padding_mask.criterion("the lengths are left alone")
def _(draw):
    yield call(torch.tensor([2, 4, 1]), 6).does_not_mutate()
    # Criteria above check the results for an empty and a full sentence
    yield call(torch.tensor([0, 5]), 5).does_not_mutate().check_with("arguments_unchanged")
