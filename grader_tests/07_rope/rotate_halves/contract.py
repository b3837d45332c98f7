"""`rotate_halves`, a step: RoPE in the other layout."""

import torch

from grading.exercises.exercise import call, step

from ..common import turned

rotate_halves = step(
    "rotate_halves",
    see="Exercise: rotate in the other layout (extra)",
    hints=(
        "Which entries are the first members of all pairs now, and which the second? You need no slice with a step.",
        "The angles are those of `apply_rope`. Only two lines differ: how you cut `x` (`chunk(2, dim=-1)`), and how "
        "you join the result.",
        "The shape of the code: `angles = positions[:, None] * rope_frequencies(…)`, `first, second = x.chunk(…)`, "
        "`torch.cat([<new first>, <new second>], dim=-1)`.",
    ),
)


@rotate_halves.oracle
def rotate_halves_oracle(x, positions, base=10000.0):
    dim = x.shape[-1]
    theta = base ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    angles = positions.double()[:, None] * theta
    first, second = x.unflatten(-1, (2, -1)).unbind(-2)
    result = torch.complex(first, second) * torch.polar(torch.ones_like(angles), angles).to(x.dtype.to_complex())
    return torch.cat([result.real, result.imag], dim=-1)


rotate_halves.example(
    "half a turn and a quarter: base 4, position π",
    turned(call(torch.tensor([[1.0, 3.0, 2.0, 4.0]]), torch.tensor([torch.pi]), base=4.0), 4),
)
rotate_halves.example(
    "two vectors of six numbers", turned(call(torch.arange(12.0).view(2, 6), torch.tensor([3, 1]), 100.0), 40)
)


@rotate_halves.criterion("every pair is turned by its angle")
def _(draw):
    yield turned(call(draw.normal(5, 8), draw.permutation(5)), 5)
    yield turned(call(draw.normal(2, 3, 4, 6), draw.integers(0, 60, 4), draw.number(20.0, 90.0)), 100)
    yield turned(call(draw.normal(3, 4), draw.permutation(3)).does_not_mutate(), 5)
