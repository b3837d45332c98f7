"""Building blocks of the test cases of `merge`: results for two parts of the keys."""

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
    """Two results whose log-sum-exps are near these levels and exact in float32."""
    output, _, other_output, _ = halves(draw, 3, 4)
    return output, draw.integers(-2, 3, 4) / 2 + level, other_output, draw.integers(-2, 3, 4) / 2 + other_level


def little_beside(draw, gap, dtype=torch.float32):
    """Two calls in which one side has a share of e**-gap.

    The other side's output is 0, so that only the small one shows. An answer that computes a share as 1 minus the other
    is off by less than 1e-3 of the smallest share used here, in either dtype.
    """
    output, other = draw.normal(4, 3, dtype=dtype) + 3.0, torch.zeros(4, 3, dtype=dtype)
    little, much = torch.full((4,), -gap, dtype=dtype), torch.zeros(4, dtype=dtype)
    for given in ((output, little, other, much), (other, much, output, little)):
        yield call(*given).tolerance(5e-3).label(f"two sides, one of which has a share of e**-{gap:g}")


def nothing_seen(output, lse, rows):
    """The same result, but the queries in `rows` saw no key."""
    output, lse = output.clone(), lse.clone()
    output[list(rows)], lse[list(rows)] = 0.0, -INF
    return output, lse
