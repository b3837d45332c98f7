"""`rope_frequencies`: the angle in radians per position of each pair."""

import math

import torch

from grading.exercises.exercise import call, exercise

from ...shared import BUILT_IN
from ..common import CLOCKS
from .cases import frequencies

rope_frequencies = exercise(
    "rope_frequencies",
    see=CLOCKS,
    forbidden=BUILT_IN,
    hints=(
        "How many pairs are there, and what is the number of the last one? What is the exponent of the first pair?",
        "Make one tensor of all exponents, -2i/dim for i = 0, 1, 2, … An `arange` in steps of two has the 2i. Then "
        "raise base to all of them at once.",
        "`exponents = -torch.arange(…, dtype=torch.float32) / …`, of `dim // 2` numbers; `return base ** …`.",
    ),
)


@rope_frequencies.oracle
def rope_frequencies_oracle(dim, base=10000.0):
    return torch.tensor([math.pow(base, -2 * i / dim) for i in range(dim // 2)], dtype=torch.float32)


rope_frequencies.example("two pairs", call(4))
rope_frequencies.example("three pairs, base 1000", call(6, base=1000.0), check_types=True)
rope_frequencies.example("four pairs, base 16", call(8, 16.0))
rope_frequencies.example("a single pair", call(2))


@rope_frequencies.criterion("for any even dim", points=1.25)
def _(draw):
    for dim in (2, 6, 8, 14, 64, 256):
        yield frequencies(dim)
    yield frequencies(dim=2 * draw.integer(8, 30))


@rope_frequencies.criterion("for any base", points=1, tries="base")
def _(draw):
    yield frequencies(8, base=draw.number(20.0, 200.0))
    yield frequencies(12, draw.number(2e5, 8e5))
    yield frequencies(dim=10, base=500000.0)
    yield frequencies(2, base=10.0)
    yield frequencies(128, base=1e6)
    yield frequencies(6, base=draw.number(1.2, 3.0))


@rope_frequencies.criterion("float32", points=0.5, check_types=True)
def _(draw):
    yield frequencies(2 * draw.integer(5, 8))  # not a power of two, whose exponents are exact in half precision
    yield frequencies(8, base=draw.number(20.0, 200.0)).tries("base")


@rope_frequencies.sizes(points=0.25, dim=(2, 8, 100), base=(1.001, 100.0, 1e7))
def _(draw, dim, base):
    return frequencies(dim, base)
