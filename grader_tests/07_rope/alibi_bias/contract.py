"""`alibi_bias`, an exercise without points: a bias for each score, linear in the distance."""

import torch

from grading.exercises.exercise import call, step

alibi_bias = step(
    "alibi_bias",
    see="Exercise: `alibi_bias(n_heads, T)` (extra)",
    hints=(
        "What is added to the score of a query and a key that are 3 positions apart, in a head with the slope 1/4?",
        "Multiply the slope of each head, (H,), by the distance of each query from each key, (T, T).",
        "Make the slopes from the numbers of the heads, counted from 1, and the distances from a column and a row of "
        "positions. `slopes[:, None, None]` times the distances broadcasts. Mind the sign.",
    ),
)


@alibi_bias.oracle
def alibi_bias_oracle(n_heads, T):
    slopes = 2.0 ** (-8.0 * torch.arange(1, n_heads + 1) / n_heads)
    places = torch.arange(T, dtype=torch.float32)
    return -slopes[:, None, None] * (places[:, None] - places).abs()


alibi_bias.example("one head, three places", call(1, 3))
alibi_bias.example("two heads, two places", call(2, 2))
alibi_bias.example("eight heads: slopes 1/2, 1/4, ...", call(8, T=2), check_types=True)


@alibi_bias.criterion("the slope of each head", points=1)
def _(draw):
    yield call(8, 2)
    yield call(4, 3)
    yield call(draw.integer(5, 8), T=2)


@alibi_bias.criterion("every distance", points=0.5)
def _(draw):
    yield call(2, draw.integer(5, 9))
    yield call(3, 1)
    yield call(1, 6)


@alibi_bias.criterion("float32", points=0.5, check_types=True)
def _(draw):
    yield call(2, 4)
