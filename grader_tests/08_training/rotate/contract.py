"""`rotate`, a step: RoPE at the positions 0, 1, 2, …, as a block needs it."""

import torch

from grading.exercises.exercise import call, step

rotate = step(
    "rotate",
    see="Exercise: rotate by the position (extra)",
    hints=(
        "Which dimension of x holds the positions, and how many are there? What did your `apply_rope` of lesson 7 "
        "need besides x?",
        "Copy the body of your `apply_rope`, with `positions = torch.arange(x.shape[-2], device=x.device)` and the "
        "base 10000.",
        "The shape of the code: `angles = positions[:, None] * 10000.0 ** (-torch.arange(…) / …)`, its `cos` and "
        "`sin`, `even, odd = x[..., 0::2], x[..., 1::2]`, `torch.stack([<new even>, <new odd>], "
        "dim=-1).flatten(-2)`.",
    ),
)


def turned(case):
    """Allow the error of float32 angles at positions up to 40, as lesson 07 does."""
    return case.tolerance(1e-4, 4e-5)


@rotate.oracle
def rotate_oracle(x):
    T, K = x.shape[-2:]
    exponents = torch.arange(0, K, 2, dtype=torch.float64, device=x.device) / -K
    angles = torch.arange(T, dtype=torch.float64, device=x.device)[:, None] * 10000.0**exponents
    turn = torch.complex(angles.cos().to(x.dtype), angles.sin().to(x.dtype))
    pairs = torch.complex(x[..., 0::2], x[..., 1::2]) * turn
    return torch.stack([pairs.real, pairs.imag], dim=-1).flatten(-2)


rotate.example("the worked example", turned(call(torch.tensor([[2.0, 0.0], [2.0, 0.0]]))))
rotate.example("three vectors of four numbers", turned(call(torch.tensor([[1.0, 2.0, 3.0, 4.0]]).repeat(3, 1))))


@rotate.criterion("row t rotated by its position")
def _(draw):
    yield turned(call(draw.normal(5, 8)))
    yield turned(call(draw.normal(2, 3, 7, 6)).does_not_mutate())
    yield turned(call(draw.normal(2, 40, 4)))
    yield turned(call(draw.normal(3, 5, 6, dtype=torch.float64)))
    yield turned(call(draw.normal(2, 4, 3, 6).transpose(1, 2)))
    yield turned(call(draw.normal(3, 4)).with_gradients())
