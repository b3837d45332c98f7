"""`keep_sinks`, a step: the rows of a cache that stay."""

import torch

from grading.exercises.exercise import call, non_contiguous, step

keep_sinks = step(
    "keep_sinks",
    see="Exercise: rows that stay",
    hints=(
        "Ten positions, two sinks, a window of three: which rows stay? And of four positions?",
        "Join the rows before `sinks` and the last `window` rows. Where does the second part begin if the two overlap?",
        "The shape of the code: `start = max(<…>, <…>)`, then `torch.cat([<rows before sinks>, <rows from start on>], "
        "dim=-2)`.",
    ),
)


@keep_sinks.oracle
def keep_sinks_oracle(kept, sinks, window):
    S = kept.shape[-2]
    return kept[..., [i for i in range(S) if i < sinks or i >= S - window], :]


numbered = torch.arange(6.0)[:, None]
keep_sinks.example("the worked example", call(numbered, 1, 2))
keep_sinks.example("fewer positions than sinks and window", call(numbered, 3, 4))


@keep_sinks.criterion("each row once, in order")
def _(draw):
    yield call(draw.normal(9, 2), 2, 3)
    yield call(draw.normal(2, 3, 11, 4), 4, 5)
    yield call(draw.normal(3, 8, 2), 3, 7)
    yield call(draw.normal(2, 5, 3), 4, 9)
    yield call(draw.normal(2, 3, 4), 6, 2)
    yield call(draw.normal(7, 3), 0, 2)
    yield call(draw.normal(6, 3), 2, 4)
    yield call(non_contiguous(draw.normal(10, 3, dtype=torch.float64)), 1, 4)
