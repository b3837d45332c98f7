"""What the cases of `merge` are made of: results of attention to two parts of the keys."""

import torch

from grading.exercises.exercise import call

from ...shared import INF
from ..common import attended, drawn


def halves(draw, S, other_S, *leading, **sizes):
    """Two results for the same queries: (output, lse, other_output, other_lse)."""
    query, key, value = drawn(draw, *leading, S=S + other_S, **sizes)
    parts = (attended(query, key[..., part, :], value[..., part, :]) for part in (slice(S), slice(S, None)))
    return tuple(tensor for pair in parts for tensor in pair)


def far_apart(draw, level, other_level):
    """Two results whose log-sum-exps lie around these levels, which float32 holds exactly."""
    output, _, other_output, _ = halves(draw, 3, 4)
    return output, draw.integers(-2, 3, 4) / 2 + level, other_output, draw.integers(-2, 3, 4) / 2 + other_level


def little_beside(draw, gap, dtype=torch.float32):
    """Two calls in which a side has a share of e**-gap: the greater one's output is 0, so what is left is the other's.

    Who takes 1 - s, for the other's share s, is off by less than 1e-3 of the smallest share here, in either dtype.
    """
    output, other = draw.normal(4, 3, dtype=dtype) + 3.0, torch.zeros(4, 3, dtype=dtype)
    little, much = torch.full((4,), -gap, dtype=dtype), torch.zeros(4, dtype=dtype)
    for given in ((output, little, other, much), (other, much, output, little)):
        yield call(*given).tolerance(5e-3).label(f"two sides, one of which has a share of e**-{gap:g}")


def nothing_seen(output, lse, rows):
    """The same result, in which these queries saw no key."""
    output, lse = output.clone(), lse.clone()
    output[list(rows)], lse[list(rows)] = 0.0, -INF
    return output, lse
