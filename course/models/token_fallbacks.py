"""Fallbacks for lesson 14, used in its cells until the learner's functions pass.

Each is computed in another way than the exercise asks, or does less: ids as characters of a string, no checks of
arguments, no gradients.
"""

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

Merges = list[tuple[int, int]]


def train_bpe(text: str, n_merges: int) -> Merges:
    """Merges of a text, whose ids are characters of a string here."""
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
    written = text.encode().decode("latin-1")
    for new, (left, right) in enumerate(merges, 256):
        written = written.replace(chr(left) + chr(right), chr(new))
    return [ord(character) for character in written]


def decode(ids: Iterable[int], merges: Sequence[tuple[int, int]]) -> str:
    """The text of ids, by undoing the merges from the last to the first."""
    written = "".join(chr(int(i)) for i in ids)
    for m in reversed(range(len(merges))):
        written = written.replace(chr(256 + m), chr(merges[m][0]) + chr(merges[m][1]))
    return written.encode("latin-1").decode(errors="replace")


def top_p(logits: Tensor, p: float) -> Tensor:
    """Probabilities without the least probable tokens, whose sum stays below 1 - p."""
    probabilities = torch.softmax(logits, dim=-1)
    rising, order = probabilities.sort(dim=-1)
    kept = (rising.cumsum(dim=-1) > 1 - p).scatter(-1, order, rising.cumsum(dim=-1) > 1 - p)
    return F.normalize(probabilities * kept, p=1.0, dim=-1) if p < 1 else probabilities


def min_p(logits: Tensor, p: float) -> Tensor:
    """Probabilities of the tokens whose logit is at most -ln p below the largest."""
    lowest = logits.amax(dim=-1, keepdim=True) + (math.log(p) if p else -math.inf)
    return F.softmax(torch.where(logits >= lowest, logits, -math.inf), dim=-1)


def penalize_repeats(logits: Tensor, ids: Tensor, penalty: float) -> Tensor:
    """Logits in which each token of `ids` is penalized, one after the other."""
    changed = logits.detach().clone()
    for i in set(ids.tolist()):
        changed[i] *= penalty if changed[i] < 0 else 1 / penalty
    return changed


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

    return torch.tensor([bool(piece) and ends(piece) is not None for piece in pieces])


def verify_draft(drafted: Tensor, draft: Tensor, target: Tensor, chances: Tensor) -> tuple[int, Tensor]:
    """How many drafted tokens are accepted, for all positions at once, and the distribution of the next."""
    rows = torch.arange(len(drafted))
    accepted = chances * draft[rows, drafted] < target[rows, drafted]
    n = int(accepted.cumprod(0).sum())
    return n, target[n] if n == len(drafted) else F.normalize(torch.relu(target[n] - draft[n]), p=1.0, dim=0)


def emitted_distribution(
    verify: Callable[..., tuple[int, Tensor]], draft: Tensor, target: Tensor, steps: int = 4096
) -> Tensor:
    """The distribution of the first token, with the threshold of each proposal to 1 / steps."""
    emitted = torch.zeros_like(target)
    for token in draft.nonzero()[:, 0].tolist():

        def answer(step: int, token: int = token) -> tuple[int, Tensor]:
            chances = target.new_tensor([(step + 0.5) / steps])
            return verify(torch.tensor([token]), draft[None], target.expand(2, -1), chances)

        first = bisect_left(range(steps), True, key=lambda step: not answer(step)[0])
        emitted[token] += draft[token] * first / steps
        if first < steps:
            emitted += draft[token] * (1 - first / steps) * answer(first)[1]
    return emitted
