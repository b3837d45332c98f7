"""Checkers of what attention takes: its largest tensor and its multiplications."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import torch

from ..harness.compare import leaves
from ..harness.program import Observation
from .chance import tagged
from .registry import Problem, checker

ROOM = 1.5  # for a column or two beside the scores of a tile
MANY = 1.2  # for a sum that is computed as a product
MOST_DIMENSIONS = 8  # in a report: a kernel may send a shape of any length


@checker
def computed_in_tiles(seen: Observation, exact: Observation, scores: Sequence[int], products: int) -> Problem:
    """The result is right, and was computed tile by tile in a single pass.

    scores    shape of the scores of one tile, (..., T, tile); no tensor may be much larger
    products  number of multiplications that all pairs of a query and a key need

    Allows half as much again as `scores`, and a fifth more than `products`. Memory counts, except that of masks.
    """
    return _judged(seen, exact, scores, products, "read twice", "reading the keys once", "read each key once")


@checker
def computed_in_blocks(seen: Observation, exact: Observation, scores: Sequence[int], products: int) -> Problem:
    """The result is right, and was computed in blocks, none of them needless. Limits are as in `computed_in_tiles`.

    scores    shape of the largest tensor that is needed
    products  number of multiplications that the needed blocks take
    """
    return _judged(seen, exact, scores, products, "needless", "the blocks that are needed", "skip the others")


@checker
def computed_from_latents(
    seen: Observation,
    exact: Observation,
    largest: Sequence[int],
    products: int,
    plain: int,
    copied: Sequence[int] = (),
) -> Problem:
    """The result is right, and was computed without the keys and values of the latent vectors.

    largest   shape of the largest tensor that is needed
    products  number of multiplications that are needed
    plain     number of multiplications with keys and values
    copied    shape of a copy of the latent vectors for each head

    Limits are as in `computed_in_tiles`.
    """
    result, shape, multiplied = _measured(seen)
    right, _, _ = _measured(exact)
    if problem := _wrong(result, right):
        return problem
    large, many = prod(shape) > ROOM * prod(largest), multiplied > MANY * products
    made = f"you created a tensor of {_times(shape)}, {prod(shape):,} elements; {prod(largest):,} are enough"
    counted = f"the matrix products take {multiplied:,} multiplications; {products:,} are enough"
    if many and large:
        return tagged("plain" if multiplied >= plain else "half plain", f"{counted}; {made}")
    if many:
        return tagged("too many", counted)
    if large:
        return tagged("copied" if copied and prod(shape) == prod(copied) else "too large", made)
    return None


@checker
def finite_gradients(seen: Observation) -> Problem:
    """Results are not NaN and gradients are finite; other cases compare them."""
    for name, gradient in (seen.gradients or {}).items():
        if gradient is not None and not bool(gradient.isfinite().all()):
            return f"the gradient for `{name}` is NaN or infinite"
    if any(bool(part.isnan().any()) for value in seen.values.values() for _, part in leaves(value)):
        return "the result is NaN"
    return None


def _judged(
    seen: Observation, exact: Observation, scores: Sequence[int], products: int, tag: str, once: str, advice: str
) -> Problem:
    result, shape, multiplied = _measured(seen)
    right, _, _ = _measured(exact)
    if problem := _wrong(result, right):
        return problem
    if prod(shape) > ROOM * prod(scores):
        return tagged("too large", f"you created a tensor of {_times(shape)}; the largest allowed is {_times(scores)}")
    if multiplied > MANY * products:
        return tagged(
            tag, f"the matrix products take {multiplied / products:.1f} times the multiplications of {once}; {advice}"
        )
    return None


def _measured(seen: Observation) -> tuple[Any, Sequence[int], int]:
    (values,) = seen.values.values()
    result, shape, multiplied = values
    return result, shape[:MOST_DIMENSIONS], multiplied


def _wrong(found: Any, right: Any) -> str | None:
    """What is wrong with a result, or None; other criteria check its precision."""
    pairs = [tuple(part for _, part in leaves(value)) for value in (found, right)]
    if [getattr(part, "shape", None) for part in pairs[0]] != [part.shape for part in pairs[1]]:
        return "the result has the wrong shapes"
    near = (torch.allclose(a.double(), b.double(), rtol=1e-3, atol=1e-3) for a, b in zip(*pairs, strict=True))
    return None if all(near) else "the result is wrong"


def _times(shape: Sequence[int]) -> str:
    return " x ".join(map(str, shape)) or "one number"
