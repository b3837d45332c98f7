"""`wanted_scores`: high for the targets, 0 for the other keys."""

import torch

from grading.exercises.exercise import call, step

wanted_scores = step(
    "wanted_scores",
    see="Exercise: the wanted scores",
    hints=(
        "How many scores are there? Which of them are not 0?",
        "Make a tensor of zeros with one entry per key, and write `high` at the targets. You can index by a list.",
        "`scores = keys.new_zeros(<number of keys>)` has the dtype and device of the keys.",
    ),
)


@wanted_scores.oracle
def wanted_scores_oracle(keys, targets, high):
    return torch.stack([keys.new_tensor(high if i in targets else 0.0) for i in range(keys.shape[0])])


wanted_scores.example("the worked example", call(torch.tensor([[1.0, 0.0], [2.0, 1.0], [0.0, 1.0]]), [2, 0], 10.0))
wanted_scores.example(
    "two keys of three entries, in float64",
    call(torch.tensor([[1.0, 0.0, 0.0], [2.0, 1.0, 0.0]], dtype=torch.float64), [1], 4.0),
)


@wanted_scores.criterion("one score per key", check_types=True)
def _(draw):
    yield call(draw.normal(5, 7), [3], 12.0)
    yield call(draw.normal(4, 4), [3, 1], 20.0)
    yield call(draw.normal(3, 6), [0, 1, 2], 5.0)
    yield call(draw.normal(6, 6, dtype=torch.float64), [5, 0], 8.0)
