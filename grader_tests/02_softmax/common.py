"""What several exercises of the lesson say."""

import torch

from grading.exercises.exercise import EXERCISE, Script, method

from ..shared import BUILT_IN, INF

# PyTorch's attention holds a softmax, too
NOT_ALLOWED = (
    ".*softmax.*",
    "softmin",
    "log(cum)?sumexp",
    "(?!binary).*cross_entropy.*",
    "distributions",
    *BUILT_IN,
)


def far_ahead(draw, n):
    """n scores, the first of which has most of the weight: what is added to each of the others adds up beside it."""
    x = draw.normal(n, scale=0.5)
    x[0] = 7.0
    return x


def in_the_same_tensor(x):
    """A call with a tensor that was asked for before and holds other numbers by now."""
    s = Script(x=x)
    s.call(EXERCISE, s.x)
    s.call(method(s.x, "neg_"))
    s.call(EXERCISE, s.x)
    return s.case().label("the second of two calls with one tensor, whose numbers changed between them")


def levels(*values):
    """A column of numbers, one for each row: scores of rows that lie far apart."""
    return torch.tensor(values).unsqueeze(-1)


def with_gaps(x, *places):
    """`x` with -inf at these places, which are indices into its last dimension, one tuple a row."""
    for row, gaps in zip(x.view(-1, x.shape[-1]), places, strict=True):
        row[list(gaps)] = -INF
    return x
