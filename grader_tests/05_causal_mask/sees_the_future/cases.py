"""Building blocks of the test cases of `sees_the_future`."""

import torch

from grading.exercises.exercise import call, sample_model

from ...shared import INF


def future(T, ahead=0, outside=-INF):
    """A bias (T, T): `outside` for keys more than `ahead` positions after the query."""
    return torch.zeros(T, T).masked_fill(torch.ones(T, T, dtype=torch.bool).triu(1 + ahead), outside)


def distant(T):
    """bool (T, T): keys more than one position before the query."""
    return torch.ones(T, T, dtype=torch.bool).tril(-2)


def past(draw, T):
    """A random mixture (T, T) of inputs up to each position."""
    return draw.normal(T, T).tril()


def leaking(draw, T, i, j, size):
    """As `past`, with a leak: output i contains the later input j `size` times."""
    assert i < j < T
    matrix = past(draw, T)
    matrix[i, j] = size
    return matrix


def away_from_0(draw, T, D):
    """Tokens (T, D) with magnitudes of at least 0.6, because x² has derivative 0 at 0."""
    x = draw.normal(T, D)
    return x + 0.6 * torch.where(x < 0, -1.0, 1.0)


def near(draw, T, D):
    """Similar tokens (T, D): magnitudes from 0.5 to 1, features positive and negative in turn.

    So no token gets all attention, and none gets no attention.
    """
    return draw.uniform(T, D, low=0.5, high=1.0) * (1.0 - 2.0 * (torch.arange(D) % 2))


def asked(text, function, x):
    """A call of the exercise on a function, which `text` describes."""
    kind = "" if x.dtype == torch.float32 else " " + str(x.dtype).removeprefix("torch.")
    return call(function, x).label(f"sees_the_future of {text}; x {tuple(x.shape)}{kind}")


def leaks(matrix, x, text="", **options):
    """A call of the exercise on sums of tokens up to each position, plus those in `text`."""
    function = sample_model("mixture", matrix=matrix, **options)
    return asked(f"sums of tokens up to each position{', and ' * bool(text)}{text}", function, x)
