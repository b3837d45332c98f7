"""Checkers of batches drawn at random from a text whose tokens are all different."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from ..harness.program import Observation
from .chance import tagged, within_chance
from .registry import Problem, checker

NOT_THERE = "a window begins with a token that is not in data"


@checker
def windows(seen: Observation, data: torch.Tensor, block_size: int, batch_size: int) -> Problem:
    """One batch of `data` has the right shapes, dtypes and tokens."""
    result = seen.values["result"]
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        return "expected a tuple of two tensors, (inputs, targets)"
    for name, one in zip(("inputs", "targets"), result, strict=True):
        if tuple(one.shape) != (batch_size, block_size):
            text = f"{name}: expected shape {(batch_size, block_size)}, got {tuple(one.shape)}"
            turned = tuple(one.shape) == (block_size, batch_size)
            single = name == "targets" and tuple(one.shape) == (batch_size,)
            return tagged("time comes first" if turned else "one target for a window" if single else "", text)
        if one.dtype != torch.int64:
            text = f"{name}: expected dtype int64, like data, got {str(one.dtype).removeprefix('torch.')}"
            return tagged("floats" if one.is_floating_point() else "", text)
    place = {token: i for i, token in enumerate(data.tolist())}
    rows = [[[place.get(token, -1) for token in row] for row in one.tolist()] for one in result]
    for found, after in zip(*rows, strict=True):
        if -1 in found or found != list(range(found[0], found[0] + block_size)):
            return tagged(_goes_round(rows, len(data)), "a row of inputs is not a window of consecutive tokens of data")
        if after != [i + 1 for i in found]:
            text = "the targets of a row are not its inputs shifted by one position"
            return tagged(_goes_round(rows, len(data)) or _targets_instead(rows, len(data)), text)
    return "the call changed data in place" if seen.changed else None


def _goes_round(rows: Sequence[Sequence[list[int]]], length: int) -> str:
    """A tag if every window and its targets wrap around at the end of the text."""
    wrapped = [[(row[0] + k) % length for k in range(len(row))] for row in rows[0]]
    later = [[(i + 1) % length for i in row] for row in wrapped]
    return "goes round" if rows[0] == wrapped and rows[1] == later else ""


def _targets_instead(rows: Sequence[Sequence[list[int]]], length: int) -> str:
    """A tag for the tokens given instead of the next ones, from rows away from the end."""
    told = [(found, after) for found, after in zip(*rows, strict=True) if found[-1] + 2 < length and len(found) > 1]
    others: dict[str, Callable[[list[int]], list[int]]] = {
        "not shifted": lambda found: found,
        "two ahead": lambda found: [i + 2 for i in found],
        "what comes before": lambda found: [i - 1 for i in found],
        "turned round": lambda found: found[1:] + found[:1],
    }
    return next((tag for tag, other in others.items() if told and all(after == other(f) for f, after in told)), "")


def _starts_of(seen: Observation, data: torch.Tensor) -> list[int] | None:
    """The starts of all batches in "result", in the order drawn; None if unknown."""
    place = {token: i for i, token in enumerate(data.tolist())}
    firsts = torch.cat([torch.as_tensor(batch[0])[:, 0] for batch in seen.values["result"]]).tolist()
    found = [place.get(token, -1) for token in firsts]
    return None if -1 in found else found


@checker
def uniform_starts(seen: Observation, data: torch.Tensor, n_starts: int) -> Problem:
    """Every start that fits is drawn equally often, within chance.

    At most 12 tests for each case, each with a false alarm rate below 6e-10.
    """
    starts = _starts_of(seen, data)
    if starts is None:
        return NOT_THERE
    for start in range(len(data)):
        count, p = starts.count(start), 1 / n_starts if start < n_starts else 0.0
        if not p and count:
            return f"a window began at {start}, where no whole window fits"
        if not within_chance(count, len(starts), p):
            text = f"{count} of {len(starts)} windows began at {start}, one of {n_starts} possible starts"
            return tagged(_unevenly([starts.count(i) for i in range(n_starts)]), text)
    return None


def _unevenly(counts: list[int]) -> str:
    """A tag for the way in which starts are uneven, from how often each was drawn."""
    n, total = len(counts), sum(counts)

    def like(*weights: float) -> bool:
        shares = [weight / sum(weights) for weight in weights]
        return all(within_chance(count, total, p) for count, p in zip(counts, shares, strict=True))

    drawn = [i for i, count in enumerate(counts) if count]
    if len(drawn) == 1:
        return "one start for all" if n > 2 and drawn != [0] else ""
    if n > 2 and like(*[1.0] * (n - 1), 0.0):
        return "never the last"
    if n > 2 and like(0.0, *[1.0] * (n - 1)):
        return "never the first"
    if n > 2 and like(0.5, *[1.0] * (n - 2), 0.5):
        return "the ends half as often"
    if drawn == list(range(len(drawn))) and like(*[1.0] * len(drawn), *[0.0] * (n - len(drawn))):
        return "the first few only"
    others = (total - counts[-1]) / max(1, n - 1)
    return "the last too often" if counts[-1] > others and like(*[others] * (n - 1), counts[-1]) else ""


@checker
def independent_starts(seen: Observation, data: torch.Tensor, n_starts: int) -> Problem:
    """Successive starts are independent, within a batch (of two) and between batches.

    With n_starts = 3: twice 9 kinds of pairs, so 18 tests, each with a false alarm rate below 6e-10. Each kind is
    expected 111 times in 1000 pairs; 0 or 333 times is far outside chance.
    """
    starts = _starts_of(seen, data)
    if starts is None:
        return NOT_THERE
    if starts == starts[:2] * (len(starts) // 2):
        return tagged("every batch is the same", "every call gives the same batch")
    for offset, where in enumerate(("of one batch", "of two batches in a row")):
        pairs = list(zip(starts[offset::2], starts[offset + 1 :: 2], strict=False))
        for first in range(n_starts):
            for second in range(n_starts):
                count = pairs.count((first, second))
                if not within_chance(count, len(pairs), n_starts**-2):
                    text = f"the starts {where} depend on each other: {count} of {len(pairs)} pairs are the same"
                    return tagged("" if offset else _in_one_batch(set(pairs), n_starts), text)
    return None


def _in_one_batch(pairs: set[tuple[int, int]], n: int) -> str:
    """A tag for how the second start of a batch depends on the first."""
    every = {(first, second) for first in range(n) for second in range(n)}
    others = {
        "one start for all": {(i, i) for i in range(n)},
        "neighbours": {(i, (i + 1) % n) for i in range(n)},
        "none comes twice": {pair for pair in every if pair[0] != pair[1]},
        "sorted": {pair for pair in every if pair[0] <= pair[1]},
        "never the last": {pair for pair in every if max(pair) < n - 1},
        "never the first": {pair for pair in every if min(pair) > 0},
    }
    return next((tag for tag, other in others.items() if pairs == other), "")


@checker
def batches_follow_generator(seen: Observation) -> Problem:
    """The generator alone determines the batches, and its state advances.

    Two batches of 20 of 90 starts are equal by chance with a probability of 1e-39.
    """
    one, again, other, later = (seen.values[name][0] for name in ("one", "again", "other", "later"))
    if not torch.equal(one, again):
        return tagged("not of the generator", "the same state of the generator gave two different batches")
    if torch.equal(one, other):
        return "generators with different seeds gave the same batch"
    if torch.equal(one, later) or torch.equal(seen.values["before"], seen.values["after"]):
        text = "two calls with one generator gave the same batch: its state does not advance"
        return tagged("every batch is the same", text)
    return None
