"""`merge_heads`: heads written side by side again, undoing `split_heads`."""

import torch

from grading.exercises.exercise import call, exercise, non_contiguous

from ...shared import BUILT_IN
from ..common import SPLITTING

merge_heads = exercise(
    "merge_heads",
    see=SPLITTING,
    forbidden=BUILT_IN,
    hints=(
        "In which order must the numbers of one word be in memory? In which order does (B, H, T, Dv) have them?",
        "Undo the two steps of `split_heads`, the last one first: swap heads and words, then make one dimension of the "
        "last two.",
        "`x.transpose(…, …)`, then `.reshape(B, T, …)`. If `view` raises an error, ask which numbers it would have to "
        "move.",
    ),
)


@merge_heads.oracle
def merge_heads_oracle(x):
    return torch.cat([x[:, h] for h in range(x.shape[1])], dim=-1)


merge_heads.example("two heads, two words", call(torch.tensor([[[[1.0, 2.0], [5.0, 6.0]], [[3.0, 4.0], [7.0, 8.0]]]])))
merge_heads.example(
    "two sentences, three heads, as split_heads leaves them in memory",
    call(torch.arange(48.0).view(2, 4, 3, 2).transpose(1, 2)).with_gradients(),
)
merge_heads.example("the same, contiguous", call(torch.arange(48.0).view(2, 3, 4, 2)), check_types=True)


@merge_heads.criterion("the heads side by side in every word", points=1.75)
def _(draw):
    yield call(draw.normal(2, 3, 5, 4))
    yield call(draw.normal(3, 2, 4, 6))
    yield call(draw.normal(2, 5, 3, 1)).tries("single")
    yield call(draw.normal(3, 1, 5, 2)).tries("single")
    yield call(draw.normal(1, 4, 1, 3)).tries("single")
    yield call(draw.normal(2, 1, 3, 1)).tries("single")


@merge_heads.criterion("any layout, dtype and device, x left alone", points=0.5, check_types=True)
def _(draw):
    yield call(draw.normal(2, 5, 3, 4).transpose(1, 2)).tries("layout")
    yield call(non_contiguous(draw.normal(3, 2, 5, 4))).tries("layout")
    yield call(draw.normal(4, 5, 2, 3).permute(2, 3, 1, 0)).tries("layout")
    # Entries only move, so they must be exact: float64's usual tolerance would not show a detour by float32
    yield call(draw.normal(2, 3, 5, 4, dtype=torch.float64)).tolerance(1e-12).does_not_mutate()
    yield call(draw.normal(3, 2, 5, 4)).device_only()


@merge_heads.criterion("gradients", points=0.5)
def _(draw):
    yield call(draw.normal(2, 3, 5, 4)).with_gradients()


@merge_heads.sizes(points=0.25, B=(1, 2, 50), H=(1, 3, 16), T=(1, 5, 100), Dv=(1, 4, 32))
def _(draw, B, H, T, Dv):
    return call(draw.normal(B, H, T, Dv))
