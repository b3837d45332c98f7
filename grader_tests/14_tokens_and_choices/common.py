"""Byte pairs, texts whose letters are drawn, and distributions."""

from collections import Counter
from itertools import pairwise
from string import ascii_lowercase

import torch

# Letters of five scripts, from à, α, а, ぁ and 😀 on; within a script, only their last byte differs
SCRIPTS = tuple("".join(map(chr, range(first, first + 15))) for first in (0xE0, 0x3B1, 0x430, 0x3041, 0x1F600))


def joined(ids, pair, new):
    """`ids` with `pair` replaced by `new` wherever it occurs, from the left."""
    result = []
    for i in ids:
        if result and (result[-1], i) == pair:
            result[-1] = new
        else:
            result.append(i)
    return result


def learned(text, n_merges):
    """The merges of a text."""
    ids, merges = list(text.encode("utf-8")), []
    for m in range(n_merges):
        found = Counter(pairwise(ids))
        merges.append(min(found, key=lambda pair: (-found[pair], pair)))
        ids = joined(ids, merges[-1], 256 + m)
    return merges


def encoded(text, merges):
    """The contract's ids: since no merge makes a pair of an earlier one, one round for each merge is enough."""
    ids = list(text.encode("utf-8"))
    for m, pair in enumerate(merges):
        ids = joined(ids, pair, 256 + m)
    return ids


def spelled(draw, text, letters=ascii_lowercase):
    """A text with other letters in the same order, capitals too.

    Which pairs occur how often, which are tied and which of these is the smallest, is the same for all letters. So the
    grade does not depend on the draw.
    """
    used = "".join(sorted(set(text.lower()) & set(ascii_lowercase)))
    drawn = "".join(letters[i] for i in sorted(draw.permutation(len(letters))[: len(used)].tolist()))
    return text.translate(str.maketrans(used + used.upper(), drawn + drawn.upper()))


def spread_logits(draw, probabilities, *shape):
    """Logits (*shape, N) whose rows have these probabilities, each in another order and with another constant added."""
    flat = torch.tensor(probabilities, dtype=torch.float64).log()
    count = torch.Size(shape).numel()
    rows = [flat[draw.permutation(len(flat))] + draw.number(-3.0, 3.0) for _ in range(count)]
    return torch.stack(rows).reshape(*shape, len(flat)).float()
