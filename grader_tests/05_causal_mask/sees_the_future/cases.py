"""What the cases of `sees_the_future` are made of, and how some are judged."""

import torch

from ...shared import INF


def future(T, ahead=0, outside=-INF):
    """A bias (T, T) for scores: `outside` on keys more than `ahead` places after the query."""
    return torch.zeros(T, T).masked_fill(torch.ones(T, T, dtype=torch.bool).triu(1 + ahead), outside)


def distant(T):
    """bool (T, T): keys more than one place before the query."""
    return torch.ones(T, T, dtype=torch.bool).tril(-2)


def past(draw, T):
    """A random mixture (T, T) of what is not in the future, with both signs."""
    return draw.normal(T, T).tril()


def leaking(draw, T, i, j, size):
    """The same, with a leak: output i holds input j `size` times."""
    matrix = past(draw, T)
    matrix[i, j] = size
    return matrix
