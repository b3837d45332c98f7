"""Properties of texts that a model writes at random."""

from __future__ import annotations

import torch

from ..protocol.program import Observation
from .chance import within_chance
from .stating import Problem, stated

NO_TEXT = "the result must be a tensor (B, T + n_tokens)"


@stated
def by_probability(seen: Observation, exact: Observation, wanted: torch.Tensor, n_tokens: int) -> Problem:
    """How often each token follows each, against `wanted` (N, N): 25 questions of 6e-10 for each case, or 64 after a
    single token."""
    tokens = seen.values["tokens"]
    if not isinstance(tokens, torch.Tensor) or tokens.shape != exact.values["tokens"].shape:
        return NO_TEXT
    if tokens.dtype != torch.int64 or not bool(((tokens >= 0) & (tokens < len(wanted))).all()):
        return "the result must hold ids, int64"
    before, after = tokens[:, -n_tokens - 1 : -1].flatten(), tokens[:, -n_tokens:].flatten()
    for first in range(len(wanted)):
        n = int((before == first).sum())
        for then in range(len(wanted)):
            count = int(((before == first) & (after == then)).sum())
            if not within_chance(count, n, float(wanted[first, then])):
                return f"of {n} tokens after token {first}, {count} are {then}; that does not fit its probability"
    return None


@stated
def texts_of_the_generator(seen: Observation) -> Problem:
    """Texts of 40 tokens of 60 are equal by chance with a probability of 1e-71."""
    one, again, other, later = (seen.values[name] for name in ("one", "again", "other", "later"))
    if any(not isinstance(t, torch.Tensor) or tuple(t.shape) != (2, 21) for t in (one, again, other, later)):
        return NO_TEXT
    if not torch.equal(one, again):
        return "the same state of the generator gave two different texts"
    if torch.equal(one, other):
        return "generators with different seeds gave the same text"
    if torch.equal(one, later) or torch.equal(seen.values["before"], seen.values["after"]):
        return "two calls with one generator gave the same text: its state does not move on"
    if torch.equal(one[0, 1:], one[1, 1:]):
        return "two rows of a batch are the same text: each row draws its own tokens"
    if one.unique().numel() < 6:  # 40 draws of 60 hold fewer than 6 different tokens with a probability below 1e-36
        return "the tokens of a text depend on each other, where the model says that they do not"
    return None


@stated
def the_same_text(seen: Observation, exact: Observation) -> Problem:
    """With the default temperature and with 1.0."""
    one, default = seen.values["one"], seen.values["default"]
    if not isinstance(one, torch.Tensor) or one.shape != exact.values["one"].shape:
        return NO_TEXT
    return None if torch.equal(one, default) else "without a temperature another text is written than with 1.0"


@stated
def leaves_the_prompt(seen: Observation) -> Problem:
    """Only whether it was changed: what comes out for a long prompt is judged elsewhere."""
    return "a prompt that is longer than block_size was changed in place" if "prompt" in seen.changed else None
