"""Bounds on chance variation, and the diagnosis of wrong dropout."""

from __future__ import annotations

import math

import torch

from ..harness.diagnose import TaggedFinding
from .registry import Problem


def tagged(tag: str, text: str) -> TaggedFinding:
    """A finding with a tag, which names the known mistake whose `when` is that tag."""
    return TaggedFinding("values", text, tag)


def within_chance(count: int, n: int, p: float) -> bool:
    """Whether chance can give `count` of `n` independent events of probability `p`.

    Bernstein's inequality: P(|count - n p| >= s) <= 2 exp(-s^2 / (2 n p (1 - p) + 2 s / 3)). The s computed here makes
    that bound 2 exp(-22), below 6e-10; hundreds of such tests together stay below one in a million.
    """
    slack = 22 / 3 + math.sqrt((22 / 3) ** 2 + 44 * n * p * (1 - p))
    return abs(count - n * p) <= slack


def all_within_chance(counts: torch.Tensor, p: torch.Tensor) -> bool:
    """The same for every entry of `counts`, whose rows have the probabilities `p`."""
    mean = counts.sum(-1, keepdim=True) * p.double()
    slack = 22 / 3 + ((22 / 3) ** 2 + 44 * mean * (1 - p.double())).sqrt()
    return bool(((counts - mean).abs() <= slack).all())


def too_many_or_few(dropped: torch.Tensor, p: float) -> str | None:
    """What is wrong with the number of weights dropped at probability `p`, or None.

    dropped  bool, True where a weight is 0; the pattern is checked elsewhere
    """
    count, n = int(dropped.sum()), dropped.numel()
    if within_chance(count, n, p):
        return None
    return f"dropout is {p:.2f}, but {count} of {n} weights were dropped, which chance does not explain"


def dropped_otherwise(text: str, given: torch.Tensor, clean: torch.Tensor, p: float) -> Problem:
    """A finding on dropout of probability `p`, tagged if the weights show the cause.

    given, clean  weights in training mode, 0 where dropped, and without dropout; same shape
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
