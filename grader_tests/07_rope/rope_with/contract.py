"""`rope_with`, a step: rotation with any frequencies, by `apply_rope`."""

import torch

from grading.exercises.exercise import call, step

from ..common import turned

rope_with = step(
    "rope_with",
    see="Exercise: rotate with any frequencies (extra)",
    hints=(
        "What is the frequency of the only pair if `dim` is 2? By which angle does `apply_rope` turn a vector of two "
        "numbers at position 3.5?",
        "`x[..., 2 * i : 2 * i + 2]` is pair i, and `positions * frequencies[i]` are its angles. Join all pairs with "
        "`torch.cat`.",
        "The shape of the code: `pairs = [apply_rope(<pair i>, <its angles>) for i in range(<number of pairs>)]`, then "
        "`torch.cat(pairs, dim=…)`.",
    ),
)


@rope_with.oracle
def rope_with_oracle(x, positions, frequencies):
    angles = positions.double()[:, None] * frequencies.double()
    turns = torch.polar(torch.ones_like(angles), angles).to(x.dtype.to_complex())
    return torch.view_as_real(torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous()) * turns).flatten(-2)


rope_with.example(
    "half a turn and a quarter",
    turned(
        call(torch.tensor([[1.0, 2.0, 3.0, 4.0]]), torch.tensor([2]), torch.tensor([torch.pi / 2, torch.pi / 4])), 4
    ),
)
rope_with.example(
    "three vectors, three pairs",
    turned(call(torch.arange(18.0).view(3, 6) / 5, torch.tensor([0, 5, 2]), torch.tensor([0.5, 0.0, 0.3])), 10),
)


@rope_with.criterion("every pair by its frequency")
def _(draw):
    yield turned(call(draw.normal(5, 8), draw.permutation(5), draw.uniform(4)), 20)
    yield turned(call(draw.normal(2, 3, 4, 6), draw.integers(0, 60, 4), draw.uniform(3)), 100)
    yield turned(call(draw.normal(3, 4), draw.permutation(3), draw.uniform(2)).does_not_mutate(), 10)
