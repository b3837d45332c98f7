"""`rows_to_halves`, a step: a projection's rows reordered inside each head."""

import torch

from grading.exercises.exercise import call, step

rows_to_halves = step(
    "rows_to_halves",
    see="Exercise: move the weights (extra)",
    hints=(
        "Each row of the weight makes one entry of the output. Which rows belong to head 0?",
        "Cut the rows into heads, `unflatten(0, (n_heads, -1))`, which is `(H, K, D)`. The `K` rows are to be "
        "reordered, but `to_half_split` works on the last dimension: exchange the last two before and after it.",
        "The shape of the code: `heads = W.unflatten(…).mT`, then `to_half_split(heads).mT.flatten(…)`.",
    ),
)


@rows_to_halves.oracle
def rows_to_halves_oracle(W, n_heads):
    size = len(W) // n_heads
    order = [h * size + i for h in range(n_heads) for i in (*range(0, size, 2), *range(1, size, 2))]
    return W[order]


rows_to_halves.example("one head of six rows", call(torch.arange(12.0).view(6, 2), 1))
rows_to_halves.example("two heads of six rows", call(torch.arange(24.0).view(12, 2), 2))


@rows_to_halves.criterion("inside each head")
def _(draw):
    yield call(draw.normal(24, 5), 3)
    yield call(draw.normal(16, 16), 2)
    yield call(draw.normal(8, 3, dtype=torch.float64), 1)
    yield call(draw.normal(12, 7), 2).does_not_mutate()
