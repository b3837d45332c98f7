"""What the cases of `sees_the_future` are made of, and how some are judged."""

import torch

from grading.exercises.exercise import call, sample_model

from ...shared import INF


def future(T, ahead=0, outside=-INF):
    """A bias (T, T) for scores: `outside` on keys more than `ahead` places after the query."""
    return torch.zeros(T, T).masked_fill(torch.ones(T, T, dtype=torch.bool).triu(1 + ahead), outside)


def distant(T):
    """bool (T, T): keys more than one place before the query."""
    return torch.ones(T, T, dtype=torch.bool).tril(-2)


def past(draw, T):
    """A random mixture (T, T) of what is not in the future."""
    return draw.normal(T, T).tril()


def leaking(draw, T, i, j, size):
    """The same, with a leak: output i holds input j, a later one, `size` times."""
    assert i < j < T
    matrix = past(draw, T)
    matrix[i, j] = size
    return matrix


def away_from_0(draw, T, D):
    """Tokens (T, D) of a magnitude of 0.6 and more: at 0 the derivative of a square is 0."""
    x = draw.normal(T, D)
    return x + 0.6 * torch.where(x < 0, -1.0, 1.0)


def near(draw, T, D):
    """Tokens (T, D) on one side of 0 in each feature, with entries between 0.5 and 1 in magnitude, one feature positive
    and the next negative: none takes all attention, and none is left without its share."""
    return draw.uniform(T, D, low=0.5, high=1.0) * (1.0 - 2.0 * (torch.arange(D) % 2))


def asked(text, function, x):
    """The exercise asked about a function, which `text` describes."""
    kind = "" if x.dtype == torch.float32 else " " + str(x.dtype).removeprefix("torch.")
    return call(function, x).label(f"sees_the_future of {text}; x {tuple(x.shape)}{kind}")


def leaks(matrix, x, text="", **options):
    """The exercise asked about sums of earlier tokens and, with `text`, of what it says beside."""
    function = sample_model("mixture", matrix=matrix, **options)
    return asked(f"sums of tokens up to each place{', and ' * bool(text)}{text}", function, x)
