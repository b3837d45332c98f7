"""Tolerances: how far a value may be from the reference, and why.

Where the exact result is zero everywhere, a relative tolerance says nothing about rounding. The floor is then sixteen
units in the last place of the largest input (`rounding`): the terms that cancel have that size. The floor applies
nowhere else: a small nonzero result has a relative tolerance, which catches mistakes such as `+ 1e-8`.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Tolerance:
    """The allowed error: rtol * |reference| + atol * (largest |reference|) + noise.

    rtol and atol depend on the dtype: sums of a few hundred terms in another order differ by some tens of units in the
    last place (float32: 1.2e-7, float64: 2.2e-16); the rest allows longer formulas. `noise` is sixteen times the
    reference's own change when computed in the dtype of the case, for cancellation. float64's rtol is near float32's
    precision, so that a 1e-8 guard against zero is not an error.
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
    """The rounding error of a difference of numbers of this size that is exactly zero."""
    return NOISE_FACTOR * torch.finfo(dtype).eps * size


def allowed_error(exact: torch.Tensor, native: torch.Tensor, tolerance: Tolerance, floor: float = 0.0) -> torch.Tensor:
    """The largest error allowed per element, float64; `floor` if all of `exact` is 0."""
    size = exact.abs().nan_to_num(0.0, 0.0, 0.0)
    largest = size.max() if size.numel() else size.sum()
    moved = (native.double() - exact).abs()
    moved = torch.where(torch.isfinite(moved), moved, 0.0)
    # Limited, so that a reference that is useless in this dtype does not allow everything
    noise = torch.clamp(moved.max() if moved.numel() else moved.sum(), max=1e-2 * largest)
    return tolerance.rtol * size + tolerance.atol * largest + NOISE_FACTOR * noise + (0.0 if largest > 0 else floor)
