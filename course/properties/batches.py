"""Properties of batches that are drawn at random from a text whose tokens are all different."""

from __future__ import annotations

import torch

from ..protocol.program import Observation
from .chance import within_chance
from .stating import Problem, stated

NOT_THERE = "a window begins with a token that data does not hold"


@stated
def windows(seen: Observation, data: torch.Tensor, block_size: int, batch_size: int) -> Problem:
    """Form and content of one batch of `data`."""
    result = seen.values["result"]
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        return "the result must be a tuple of two tensors, (inputs, targets)"
    for name, one in zip(("inputs", "targets"), result, strict=True):
        if tuple(one.shape) != (batch_size, block_size):
            return f"{name} has the shape {tuple(one.shape)}, and must have {(batch_size, block_size)}"
        if one.dtype != torch.int64:
            return f"{name} has the dtype {one.dtype}, and must have that of data, torch.int64"
    place = {token: i for i, token in enumerate(data.tolist())}
    for inputs, targets in zip(*(one.tolist() for one in result), strict=True):
        found = [place.get(token, -1) for token in inputs]
        if -1 in found or found != list(range(found[0], found[0] + block_size)):
            return "a row of inputs is not a window of data, token after token"
        after = [place.get(token, -1) for token in targets]
        if after != [i + 1 for i in found]:
            return "the targets of a row are not the tokens one step after its inputs"
    return "the call changed data in place" if seen.changed else None


def _starts_of(seen: Observation, data: torch.Tensor) -> list[int] | None:
    """The starts of all batches observed as "result", in the order in which they were drawn; or None."""
    place = {token: i for i, token in enumerate(data.tolist())}
    firsts = torch.cat([torch.as_tensor(batch[0])[:, 0] for batch in seen.values["result"]]).tolist()
    found = [place.get(token, -1) for token in firsts]
    return None if -1 in found else found


@stated
def evenly(seen: Observation, data: torch.Tensor, n_starts: int) -> Problem:
    """The number of times that each start was drawn. At most 12 questions of 6e-10 for each case."""
    starts = _starts_of(seen, data)
    if starts is None:
        return NOT_THERE
    for start in range(len(data)):
        count, p = starts.count(start), 1 / n_starts if start < n_starts else 0.0
        if not p and count:
            return f"a window began at {start}, where no window fits"
        if not within_chance(count, len(starts), p):
            return f"of {len(starts)} windows {count} began at {start}, of {n_starts} starts that fit"
    return None


@stated
def one_by_one(seen: Observation, data: torch.Tensor, n_starts: int) -> Problem:
    """The starts that follow each other, inside a batch (of two) and from one batch to the next.

    With n_starts = 3: twice 9 kinds of pairs, 18 questions of 6e-10. Each kind is expected 111 times in 1000 pairs, and
    0 times, or 333 times, is far outside of chance.
    """
    starts = _starts_of(seen, data)
    if starts is None:
        return NOT_THERE
    if starts == starts[:2] * (len(starts) // 2):
        return "every call gives the same batch"
    for offset, where in enumerate(("of one batch", "of two batches in a row")):
        pairs = list(zip(starts[offset::2], starts[offset + 1 :: 2], strict=False))
        for first in range(n_starts):
            for second in range(n_starts):
                count = pairs.count((first, second))
                if not within_chance(count, len(pairs), n_starts**-2):
                    return f"the starts {where} depend on each other: {count} of {len(pairs)} pairs are alike"
    return None


@stated
def batches_of_the_generator(seen: Observation) -> Problem:
    """Two batches of 20 of 90 starts are equal by chance with a probability of 1e-39."""
    one, again, other, later = (seen.values[name][0] for name in ("one", "again", "other", "later"))
    if not torch.equal(one, again):
        return "the same state of the generator gave two different batches"
    if torch.equal(one, other):
        return "generators with different seeds gave the same batch"
    if torch.equal(one, later) or torch.equal(seen.values["before"], seen.values["after"]):
        return "two calls with one generator gave the same batch: its state does not move on"
    return None
