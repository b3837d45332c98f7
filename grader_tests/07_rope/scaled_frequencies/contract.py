"""`scaled_frequencies`: the frequencies with which a trained model reads longer texts."""

import math

import torch

from grading.exercises.exercise import exercise

from ...shared import BUILT_IN
from .cases import frequencies

LONGER = "8. Texts that are longer than in training"

scaled_frequencies = exercise(
    "scaled_frequencies",
    see=LONGER,
    forbidden=BUILT_IN,
    hints=(
        "Two of the three methods are one line each. Which argument of `rope_frequencies` changes in the first? What "
        "happens to its result in the second?",
        "For YaRN, write down three tensors of `dim // 2` entries: the frequencies, the turns that each pair makes in "
        "`length` positions (a full turn is 2π radians), and the share of its frequency that each pair keeps. `clamp` "
        "cuts the share off at 0 and 1.",
        "`frequencies = rope_frequencies(…)`, then `if method == …: return …` for each method. In the last: `turns = "
        "length * … / …`, `keep = ((turns - …) / (… - …)).clamp(0, 1)`, and a sum of two products. At the end `raise "
        "ValueError(…)`, naming method and its value.",
    ),
)


@scaled_frequencies.oracle
def scaled_frequencies_oracle(dim, method, factor, length, base=10000.0, low=1.0, high=32.0):
    if method not in ("base", "interpolation", "yarn"):
        raise ValueError(f"method is {method!r}; expected 'base', 'interpolation' or 'yarn'")
    found = []
    for i in range(dim // 2):
        theta = math.pow(base, -2 * i / dim)
        turns = length * theta / (2 * math.pi)
        keep = min(max((turns - low) / (high - low), 0.0), 1.0)
        found.append(
            {
                "base": theta * math.pow(factor, -2 * i / (dim - 2)),
                "interpolation": theta / factor,
                "yarn": keep * theta + (1 - keep) * theta / factor,
            }[method]
        )
    return torch.tensor(found, dtype=torch.float32)


scaled_frequencies.example("a larger base: twice as long, three pairs, base 16", frequencies(6, "base", 2.0, 64, 16.0))
scaled_frequencies.example("interpolation: four times as long, base 16", frequencies(8, "interpolation", 4.0, 64, 16.0))
scaled_frequencies.example("YaRN: twice as long, base 16", frequencies(8, "yarn", 2.0, 8 * math.pi, 16.0, high=3.0))
scaled_frequencies.example("YaRN, five pairs", frequencies(10, "yarn", 2.0, 500), check_types=True)
scaled_frequencies.example("a method that does not exist", frequencies(8, "longer", 2.0, 64).raises("method"))


@scaled_frequencies.criterion("a larger base", points=0.5)
def _(draw):
    yield frequencies(8, "base", 2.0, 128)
    yield frequencies(24, "base", draw.number(2.0, 9.0), 128)
    yield frequencies(64, "base", factor=16.0, length=2048)
    yield frequencies(4, "base", draw.number(3.0, 5.0), draw.integer(50, 90))
    yield frequencies(12, "base", 1.0, 100)
    yield frequencies(16, "base", 4.0, 512, base=draw.number(200.0, 900.0))


@scaled_frequencies.criterion("position interpolation", points=0.5)
def _(draw):
    yield frequencies(8, "interpolation", 2.0, 128)
    yield frequencies(24, "interpolation", draw.number(2.0, 9.0), 128)
    yield frequencies(64, "interpolation", factor=16.0, length=2048)
    yield frequencies(4, "interpolation", draw.number(3.0, 5.0), draw.integer(50, 90))
    yield frequencies(16, "interpolation", 4.0, 512, base=draw.number(200.0, 900.0))


# With these, some pairs turn less than `low` times, some more than `high` times, and several in between
@scaled_frequencies.criterion("YaRN: each pair by its turns", points=1)
def _(draw):
    yield frequencies(64, "yarn", draw.number(2.0, 9.0), 2048)
    yield frequencies(dim=128, method="yarn", factor=40.0, length=4096)
    yield frequencies(24, "yarn", draw.number(3.0, 5.0), draw.integer(300, 400))
    yield frequencies(6, "yarn", 2.0, 700)
    yield frequencies(12, "yarn", 1.0, 128)
    yield frequencies(16, "yarn", 4.0, 512, base=draw.number(200.0, 900.0))


@scaled_frequencies.criterion("low and high as given", points=0.5)
def _(draw):
    yield frequencies(128, "yarn", 8.0, 8192, 500000.0, 1.0, 4.0)
    yield frequencies(24, "yarn", draw.number(2.0, 9.0), 128, low=draw.number(0.1, 0.4), high=draw.number(3.0, 6.0))
    yield frequencies(32, "yarn", 4.0, 1024, high=draw.number(60.0, 90.0))
    yield frequencies(32, "yarn", 4.0, 1024, low=draw.number(3.0, 6.0))


@scaled_frequencies.criterion("float32, and ValueError for an unknown method", points=0.5, check_types=True)
def _(draw):
    for method in ("base", "interpolation", "yarn"):
        yield frequencies(2 * draw.integer(5, 8), method, draw.number(2.0, 4.0), 256)
    yield frequencies(8, "linear", 2.0, 128).raises("method")
    yield frequencies(12, "", 4.0, 256, base=500.0).raises("method")
    yield frequencies(12, "YARN", 4.0, 256).raises("method")
    for method in ("base", "interpolation", "yarn"):
        yield frequencies(8, method, 2.0, 128).does_not_raise()
