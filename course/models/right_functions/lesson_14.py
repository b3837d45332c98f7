"""Right functions for tokens and choices, in which ids are characters of a string."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from . import announce

__all__ = [
    "allowed_tokens",
    "continuation_log_probability",
    "decode",
    "emitted_distribution",
    "encode",
    "min_p",
    "penalize_repeats",
    "top_p",
    "train_bpe",
    "verify_draft",
]
Merges = list[tuple[int, int]]
STEPS = 4096  # thresholds that `emitted_distribution` tells apart


def train_bpe(text: str, n_merges: int) -> Merges:
    """Merges of a text. Raises ValueError if n_merges < 0."""
    announce()
    if n_merges < 0:
        raise ValueError(f"n_merges is {n_merges}, and must be at least 0")
    written, merges = text.encode().decode("latin-1"), Merges()
    for new_id in range(256, 256 + n_merges):
        counts = Counter(pairwise(written))
        pair, often = min(counts.items(), key=lambda item: (-item[1], item[0]), default=(("", ""), 0))
        if often < 2:
            break
        written = written.replace("".join(pair), chr(new_id))
        left, right = map(ord, pair)
        merges.append((left, right))
    return merges


def encode(text: str, merges: Sequence[tuple[int, int]]) -> list[int]:
    """The ids of a text: all merges, one after the other, as replacements in a string."""
    announce()
    written = text.encode().decode("latin-1")
    for new, (left, right) in enumerate(merges, 256):
        written = written.replace(chr(left) + chr(right), chr(new))
    return [ord(character) for character in written]


def decode(ids: Iterable[int], merges: Sequence[tuple[int, int]]) -> str:
    """The text of ids, by undoing the merges from the last to the first. Raises ValueError for an unknown id."""
    announce()
    known = 256 + len(merges)
    numbers = [int(i) for i in ids]
    if wrong := [i for i in numbers if not 0 <= i < known]:
        raise ValueError(f"ids has {wrong[0]}, which does not exist: there are {known}")
    written = "".join(map(chr, numbers))
    for m in reversed(range(len(merges))):
        written = written.replace(chr(256 + m), chr(merges[m][0]) + chr(merges[m][1]))
    return written.encode("latin-1").decode(errors="replace")


def top_p(logits: Tensor, p: float) -> Tensor:
    """Probabilities without the least probable tokens, whose sum stays below 1 - p. Raises ValueError."""
    if not 0 < p <= 1:
        raise ValueError(f"p is {p}, and must be greater than 0 and at most 1")
    probabilities = torch.softmax(logits, dim=-1)
    rising, order = probabilities.sort(dim=-1)
    likely = rising.cumsum(dim=-1) > 1 - p
    kept = likely.scatter(-1, order, likely)
    return F.normalize(probabilities * kept, p=1.0, dim=-1) if p < 1 else probabilities


def min_p(logits: Tensor, p: float) -> Tensor:
    """Probabilities of the tokens whose logit is at most -ln p below the largest. Raises ValueError."""
    if not 0 <= p <= 1:
        raise ValueError(f"p is {p}, and must be from 0 to 1")
    lowest = logits.detach().amax(dim=-1, keepdim=True) + (math.log(p) if p else -math.inf)
    return F.softmax(torch.where(logits >= lowest, logits, -math.inf), dim=-1)


def penalize_repeats(logits: Tensor, ids: Tensor, penalty: float) -> Tensor:
    """Logits (N,) in which each token of `ids` is penalized once. Raises ValueError unless penalty > 0."""
    if not penalty > 0:
        raise ValueError(f"penalty is {penalty}, and must be greater than 0")
    seen = torch.zeros_like(logits, dtype=torch.bool).index_fill(0, ids, True)
    return torch.where(seen, F.leaky_relu(logits / penalty, penalty**2), logits)


def continuation_log_probability(model: Callable[[Tensor], Tensor], prompt: Tensor, continuation: Tensor) -> Tensor:
    """The log-probability of a continuation, by PyTorch's cross-entropy."""
    logits = model(torch.cat([prompt, continuation])[None])[0]
    return -F.cross_entropy(logits[-len(continuation) - 1 : -1], continuation, reduction="sum")


def allowed_tokens(state: Any, pieces: Sequence[str], advance: Callable[[Any, str], Any]) -> Tensor:
    """Which pieces a grammar allows, character by character."""

    def ends(piece: str) -> Any:
        after = state
        for character in piece:
            after = None if after is None else advance(after, character)
        return after

    return torch.tensor([bool(piece) and ends(piece) is not None for piece in pieces], dtype=torch.bool)


def verify_draft(drafted: Tensor, draft: Tensor, target: Tensor, chances: Tensor) -> tuple[int, Tensor]:
    """How many drafted tokens are accepted, for all positions at once, and the distribution of the next."""
    rows = torch.arange(len(drafted), device=drafted.device)
    accepted = chances * draft[rows, drafted] < target[rows, drafted]
    n = int(accepted.cumprod(0).sum())
    return n, target[n] if n == len(drafted) else F.normalize(torch.relu(target[n] - draft[n]), p=1.0, dim=0)


def emitted_distribution(verify: Callable[..., tuple[int, Tensor]], draft: Tensor, target: Tensor) -> Tensor:
    """The distribution of the first token, with the threshold of each proposal to 1 / STEPS."""
    emitted = torch.zeros_like(target)
    for token in draft.nonzero()[:, 0].tolist():

        def answer(step: int, token: int = token) -> tuple[int, Tensor]:
            chances = target.new_tensor([(step + 0.5) / STEPS])
            return verify(torch.tensor([token]), draft[None], target.expand(2, -1), chances)

        first = bisect_left(range(STEPS), True, key=lambda step: not answer(step)[0])
        emitted[token] += draft[token] * first / STEPS
        if first < STEPS:
            emitted += draft[token] * (1 - first / STEPS) * answer(first)[1]
    return emitted
