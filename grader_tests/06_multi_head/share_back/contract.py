"""`share_back`, a step: the mean weight that goes to the word a given distance back."""

import torch

from grading.exercises.exercise import call, step

share_back = step(
    "share_back",
    see="Exercise: how much goes back (extra)",
    hints=(
        "Which entries of the matrix are these, for a distance of 1? Mark them in a 3 by 3 matrix.",
        "They are on a diagonal below the main one. `weights.diagonal(n)` gives one *above* it; what does a negative n "
        "give?",
    ),
)


@share_back.oracle
def share_back_oracle(weights, distance):
    shares = [weights[i, i - distance] for i in range(distance, len(weights))]
    return torch.stack(shares).mean()


MAP = torch.tensor([[1.0, 0.0, 0.0], [0.75, 0.25, 0.0], [0.5, 0.25, 0.25]])
for distance in (1, 0, 2):
    share_back.example(f"three words, distance {distance}", call(MAP, distance))


@share_back.criterion("the mean over all positions that have such a word")
def _(draw):
    for size, distance in ((5, 1), (6, 4), (4, 0), (7, 3)):
        yield call(draw.distribution(size, size), distance)
    yield call(draw.distribution(5, 5), distance=2).does_not_mutate()
