"""Bounds for what chance may give, and what a dropout that is none of the right kind did instead."""

from __future__ import annotations

import math

import torch

from ..harness.diagnose import TaggedFinding
from .registry import Problem


def tagged(tag: str, text: str) -> TaggedFinding:
    """What a checker found, as a sentence, and a tag for it: a mistake with this tag as its `when` is named by it."""
    return TaggedFinding("values", text, tag)


def within_chance(count: int, n: int, p: float) -> bool:
    """Whether `count` of `n` independent events of probability `p` is a number that chance can give.

    Bernstein's inequality: P(|count - n p| >= s) <= 2 exp(-s^2 / (2 n p (1 - p) + 2 s / 3)). The s solved for here
    makes that 2 exp(-22), below 6e-10, so that hundreds of such questions together stay below one in a million.
    """
    slack = 22 / 3 + math.sqrt((22 / 3) ** 2 + 44 * n * p * (1 - p))
    return abs(count - n * p) <= slack


def all_within_chance(counts: torch.Tensor, p: torch.Tensor) -> bool:
    """The same for a table: each row of `counts` shares its sum out by the row of `p`."""
    mean = counts.sum(-1, keepdim=True) * p.double()
    slack = 22 / 3 + ((22 / 3) ** 2 + 44 * mean * (1 - p.double())).sqrt()
    return bool(((counts - mean).abs() <= slack).all())


def too_many_or_few(dropped: torch.Tensor, p: float) -> str | None:
    """What is wrong with the number of weights that dropout of probability `p` struck out, or None.

    dropped  bool, True where a weight is 0; how the dropped ones lie is judged elsewhere
    """
    count, n = int(dropped.sum()), dropped.numel()
    if within_chance(count, n, p):
        return None
    return f"dropout is {p:.2f}, and {count} of {n} weights were dropped: that is not to be expected"


def dropped_otherwise(text: str, given: torch.Tensor, clean: torch.Tensor, p: float) -> Problem:
    """A finding on dropout of probability `p`, with a tag where the weights tell what was done instead.

    given, clean  weights in training mode, 0 where dropped, and what they are without dropout; of one shape
    """
    dropped = given == 0
    count, n = int(dropped.sum()), dropped.numel()
    sizes = given[~dropped] / clean[~dropped]
    size = float(sizes.median()) if len(sizes) else 0.0
    return tagged(_way_of_dropping(count, n, size, bool(((sizes - size).abs() <= 1e-3 * size).all()), given, p), text)


def _way_of_dropping(count: int, n: int, size: float, of_one_size: bool, given: torch.Tensor, p: float) -> str:
    if count == 0:
        if of_one_size:
            return "nothing is dropped" if abs(size - 1) < 1e-3 else ""
        rows = given.sum(-1)
        return "the scores are dropped" if torch.allclose(rows, torch.ones_like(rows), rtol=1e-3) else ""
    if within_chance(count, n, 1 - p) and not within_chance(count, n, p):
        return "what was to be kept is dropped"
    if not of_one_size:
        full = given.sum(-1)[(given != 0).any(-1)]
        return "rows sum to 1 again" if torch.allclose(full, torch.ones_like(full), rtol=1e-3) else ""
    if within_chance(count, n, p):
        return (
            "survivors keep their size" if abs(size - 1) < 1e-3 else "divided by p" if abs(size * p - 1) < 1e-3 else ""
        )
    if abs(size * (1 - p) ** 2 - 1) < 1e-4 and within_chance(count, n, 1 - (1 - p) ** 2):
        return "dropped twice over"
    return "another share is dropped" if size > 1 and within_chance(count, n, 1 - 1 / size) else ""
