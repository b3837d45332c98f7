"""Constants and helpers that several exercises of the lesson share."""

import torch

from grading.exercises.exercise import EXERCISE, Script, method

from ..shared import BUILT_IN, INF

# PyTorch's attention contains a softmax, too
NOT_ALLOWED = (
    ".*softmax.*",
    "softmin",
    "log(cum)?sumexp",
    "(?!binary).*cross_entropy.*",
    "distributions",
    *BUILT_IN,
)


def far_ahead(draw, n):
    """n scores with most of the weight on the first; additions to all others add up."""
    x = draw.normal(n, scale=0.5)
    x[0] = 7.0
    return x


def in_the_same_tensor(x):
    """A second call with the same tensor, whose numbers have changed."""
    s = Script(x=x)
    s.call(EXERCISE, s.x)
    s.call(method(s.x, "neg_"))
    s.call(EXERCISE, s.x)
    return s.case().label("the second of two calls with one tensor, whose numbers changed between them")


def levels(*values):
    """A column of numbers, one per row, to move the scores of rows far apart."""
    return torch.tensor(values).unsqueeze(-1)


def with_gaps(x, *places):
    """Set entries of `x` to -inf: `places` has a tuple of indices for each row."""
    for row, gaps in zip(x.view(-1, x.shape[-1]), places, strict=True):
        row[list(gaps)] = -INF
    return x
