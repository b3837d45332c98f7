"""Checkers of texts that a model writes at random."""

from __future__ import annotations

import torch

from ..harness.program import Observation
from .chance import all_within_chance, tagged, within_chance
from .registry import Problem, checker

NO_TEXT = "expected a tensor of shape (B, T + n_tokens)"


@checker
def matches_distribution(
    seen: Observation, exact: Observation, wanted: torch.Tensor, n_tokens: int, temperature: float = 1.0
) -> Problem:
    """Each token follows each with its probability in `wanted` (N, N), within chance.
    25 tests of 6e-10 for each case, or 64 after a single token. `temperature` is that of `wanted`."""
    tokens = seen.values["tokens"]
    if not isinstance(tokens, torch.Tensor) or tokens.shape != exact.values["tokens"].shape:
        return NO_TEXT
    if tokens.dtype != torch.int64 or not bool(((tokens >= 0) & (tokens < len(wanted))).all()):
        return "expected token ids with dtype int64"
    counts = _counts(tokens[:, -n_tokens - 1 :], len(wanted))
    for first, row in enumerate(counts.tolist()):
        for then, count in enumerate(row):
            if not within_chance(count, sum(row), float(wanted[first, then])):
                text = (
                    f"{count} of {sum(row)} tokens after token {first} are {then}, which does not fit its probability"
                )
                return tagged(_drawn_instead(tokens[:, -n_tokens - 1 :], wanted, temperature), text)
    return None


def _counts(tokens: torch.Tensor, n: int) -> torch.Tensor:
    """(n, n): how often each token is followed by each."""
    pairs = tokens[:, :-1] * n + tokens[:, 1:]
    return pairs.flatten().bincount(minlength=n * n).view(n, n)


def _drawn_instead(tokens: torch.Tensor, wanted: torch.Tensor, temperature: float) -> str:
    """A tag for the wrong probabilities used instead of `wanted`, at `temperature`."""
    n, logs = len(wanted), wanted.clamp(min=1e-300).log() * temperature
    counts = _counts(tokens, n)

    def fits(p: torch.Tensor) -> bool:
        return all_within_chance(counts, p)

    if temperature != 1:
        one, other = fits(logs.softmax(-1)), fits((logs * temperature).softmax(-1))
        if one or other:  # at a very low temperature both are almost uniform
            return "" if one and other else "as at 1.0" if one else "multiplied"
        steps = [tokens[:, i : i + 2] for i in range(tokens.shape[1] - 1)]
        powers = [(logs / temperature ** (i + 1)).softmax(-1) for i in range(len(steps))]
        if all(all_within_chance(_counts(step, n), p) for step, p in zip(steps, powers, strict=True)):
            return "compounded"
        if any(fits((logs / (temperature * 1.03**i)).softmax(-1)) for i in range(5, 100)):
            return "too hot"
    if fits(wanted.softmax(-1)):
        return "a softmax of the softmax"
    ranks = wanted.argsort(-1, descending=True).argsort(-1)
    kept = [wanted.where(ranks < k, 0.0) for k in range(2, n)]
    return "the likeliest only" if any(fits(p / p.sum(-1, keepdim=True)) for p in kept) else ""


@checker
def texts_follow_generator(seen: Observation) -> Problem:
    """The generator determines the texts, and its state advances.

    Texts of 40 tokens of 60 are equal by chance with a probability of 1e-71.
    """
    one, again, other, later = (seen.values[name] for name in ("one", "again", "other", "later"))
    if any(not isinstance(t, torch.Tensor) or tuple(t.shape) != (2, 21) for t in (one, again, other, later)):
        return NO_TEXT
    if not torch.equal(one, again):
        return tagged("not of the generator", "the same state of the generator gave two different texts")
    if torch.equal(one, other):
        return "generators with different seeds gave the same text"
    if torch.equal(one, later) or torch.equal(seen.values["before"], seen.values["after"]):
        text = "two calls with one generator gave the same text: its state does not advance"
        return tagged("every text is the same", text)
    if torch.equal(one[0, 1:], one[1, 1:]):
        return "two rows of a batch are the same text, but each row must draw its own tokens"
    if one.unique().numel() < 6:  # 40 draws of 60 hold fewer than 6 different tokens with a probability below 1e-36
        return "the tokens of a text depend on each other, but the model says that they do not"
    return None


@checker
def default_temperature_is_one(seen: Observation, exact: Observation) -> Problem:
    """The default temperature gives the same text as 1.0."""
    one, default = seen.values["one"], seen.values["default"]
    if not isinstance(one, torch.Tensor) or one.shape != exact.values["one"].shape:
        return NO_TEXT
    if torch.equal(one, default):
        return None
    return tagged("another default", "the default temperature gives a different text than 1.0")


@checker
def prompt_unchanged(seen: Observation) -> Problem:
    """A long prompt is not changed in place; the result is checked elsewhere."""
    return "a prompt that is longer than block_size was changed in place" if "prompt" in seen.changed else None
