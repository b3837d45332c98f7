"""How far a number may be from the reference, with the reason for each part of it.

Where the exact result is zero throughout, no share of it says how far rounding may reach. There the floor is sixteen
units in the last place of the largest input (`rounding`): what was added and subtracted on the way to nothing was of
that size, and the result is as much off. It counts nowhere else: a result that is small without being zero is held to a
share of itself, and a mistake such as `+ 1e-8` with it.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Tolerance:
    """How far a number may be from the reference: rtol * |reference| + atol * (largest |reference|) + noise.

    rtol, atol are relative, from the dtype: sums of a few hundred terms in another order differ by some tens of
    units in the last place (float32: 1.2e-7, float64: 2.2e-16); the rest is room for longer formulas. `noise` is
    sixteen times what the reference itself moves when it is computed in the dtype of the case, which covers
    cancellation. float64 is held to float32-like room in rtol so that a 1e-8 guard against zero is no error.
    """

    rtol: float
    atol: float

    @staticmethod
    def of(dtype: torch.dtype) -> Tolerance:
        return TOLERANCES.get(dtype, TOLERANCES[torch.float32])


TOLERANCES = {
    torch.float64: Tolerance(1e-7, 1e-9),
    torch.float32: Tolerance(1e-4, 1e-5),
    torch.bfloat16: Tolerance(3e-2, 2e-2),
    torch.float16: Tolerance(4e-3, 2e-3),
}
NOISE_FACTOR = 16.0


def rounding(dtype: torch.dtype, size: float) -> float:
    """What rounding may leave of a difference of numbers of this size that is zero on paper."""
    return NOISE_FACTOR * torch.finfo(dtype).eps * size


def allowed_error(exact: torch.Tensor, native: torch.Tensor, tolerance: Tolerance, floor: float = 0.0) -> torch.Tensor:
    """Largest error allowed in each element, float64, shape of `exact` (see Tolerance). `floor`: where all is zero."""
    size = exact.abs().nan_to_num(0.0, 0.0, 0.0)
    largest = size.max() if size.numel() else size.sum()
    moved = (native.double() - exact).abs()
    moved = torch.where(torch.isfinite(moved), moved, 0.0)
    # A reference that is itself useless in this dtype must not open the door to anything
    noise = torch.clamp(moved.max() if moved.numel() else moved.sum(), max=1e-2 * largest)
    return tolerance.rtol * size + tolerance.atol * largest + NOISE_FACTOR * noise + (0.0 if largest > 0 else floor)
