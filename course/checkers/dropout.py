"""Checkers of dropout on attention weights, which is random."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from ..harness.program import Observation
from .chance import dropped_otherwise, tagged, too_many_or_few
from .registry import Problem, checker


def _applied(seen: Observation, plain: torch.Tensor) -> torch.Tensor | str:
    """The weights of the calls in "outs" as one tensor, or what is wrong with them."""
    weights = torch.stack([out[1] for out in seen.values["outs"]])
    if weights.shape[1:] != plain.shape:
        return f"weights: expected shape {tuple(plain.shape)}, got {tuple(weights.shape[1:])}"
    if not weights.isfinite().all():
        return "some of the weights are NaN or infinite"
    return weights.double()


@checker
def elementwise_dropout(seen: Observation, p: float, plain: torch.Tensor) -> Problem:
    """Each weight is dropped independently with probability `p`.
    `plain` are the weights before dropout.

    N = 17280 weights. Along each dimension, calls included, there are N / n lines of n weights; each has c dropped
    ones. The sum of (c - n p)^2 / (n p (1 - p)) over the lines has the mean N / n >= 576. For independent entries, it
    is outside 0.5 to 1.6 times the mean with a probability below 1e-12 (Chernoff's bound for chi-squared with 576
    degrees of freedom: e^-37 above, e^-55 below). Shared entries give a factor of n, or 0. A factor below 0.5 does not
    mean sharing: each line drops equally many. `within_chance` also checks the 576 entries on the diagonal, and the
    largest of each row.
    """
    weights = _applied(seen, plain)
    if isinstance(weights, str):
        return weights
    dropped = (weights == 0).double()
    if wrong := too_many_or_few(dropped, p):
        return _instead(wrong, seen, weights, plain, p)
    names = ("calls", "batch elements", "heads", "queries", "keys")
    for dim, name in enumerate(names):
        n = dropped.shape[dim]
        squares = (dropped.sum(dim) - n * p).square() / (n * p * (1 - p))
        if not 0.5 < squares.mean() < 1.6:
            text = f"dropout does not decide separately for each of the {name}"
            return tagged(f"alike for all {name}", text) if squares.mean() > 1 else text
    diagonal = torch.eye(*plain.shape[-2:], dtype=torch.bool).expand_as(dropped)
    for some in (diagonal, (plain == plain.amax(-1, keepdim=True)).expand_as(dropped)):
        if wrong := too_many_or_few(dropped[some], p):
            return tagged("some are spared", f"on the diagonal, or among the largest weights of each row: {wrong}")
    return None


def _instead(text: str, seen: Observation, weights: torch.Tensor, plain: torch.Tensor, p: float) -> Problem:
    """A finding, tagged if dropout was applied to the returned weights."""
    outputs = [out[0] for out in seen.values["outs"]]
    same = [all(torch.equal(one, of[0]) for one in of) for of in (outputs, weights)]
    if (weights != 0).all() and same == [False, True]:
        return text
    return dropped_otherwise(text, weights, plain.expand_as(weights), p)


@checker
def keeps_dtype(seen: Observation, dtype: str) -> Problem:
    """Both results of every call, in training mode, have this dtype."""
    if any(str(result.dtype) != dtype for out in seen.values["outs"] for result in out):
        return f"in training mode a result does not have the dtype of the inputs, {dtype.removeprefix('torch.')}"
    return None


@checker
def rescales_survivors(seen: Observation, p: float, plain: torch.Tensor) -> Problem:
    """Weights that were not dropped are multiplied by 1 / (1 - p)."""
    weights = _applied(seen, plain)
    if isinstance(weights, str):
        return weights
    wanted = plain.expand_as(weights) / (1 - p)
    wrong = (weights != 0) & ~((weights - wanted).abs() <= 1e-4 * wanted)
    if not wrong.any():
        return None
    text = f"wrong size of kept weights: {int(wrong.sum())} of {int((weights != 0).sum())}"
    return _instead(text, seen, weights, plain, p)


@checker
def output_uses_returned_weights(seen: Observation, plain: torch.Tensor, value: torch.Tensor) -> Problem:
    """The output is the sum of the values, weighted by the returned weights."""
    weights = _applied(seen, plain)
    if isinstance(weights, str):
        return weights
    output = torch.stack([out[0] for out in seen.values["outs"]]).double()
    again = weights @ value
    if output.shape != again.shape:
        return f"output: expected shape {tuple(again.shape[1:])}, got {tuple(output.shape[1:])}"
    if not ((output - again).abs() <= 1e-4 * again.abs().max()).all():
        text = "the output is not the sum of the values, weighted by the returned weights"
        return tagged(_what_was_applied(output, weights, plain, value), text)
    return None


def _what_was_applied(output: torch.Tensor, weights: torch.Tensor, plain: torch.Tensor, value: torch.Tensor) -> str:
    """A tag for how the output was made, if not from the returned weights."""
    if (output == 0).any():
        return "the output is dropped"
    if (weights != 0).all():
        return "other weights are returned"
    of_plain = torch.allclose(output, (plain @ value).expand_as(output), rtol=1e-4)
    return "other weights are applied" if of_plain else "dropped anew"


@checker
def gradients_match_kept_weights(
    seen: Observation,
    p: float,
    plain: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    scale: float,
) -> Problem:
    """The gradients of one output's sum match the weights that were kept.
    `plain` are the weights before dropout, from which gradients go back through softmax and `scale` to query (1, K) and
    key (S, K)."""
    kept = (seen.values["out"][1] != 0).double() / (1 - p)
    to_plain = value.double().sum(-1) * kept
    to_scores = plain * (to_plain - (plain * to_plain).sum(-1, keepdim=True)) * scale
    to_value = (plain * kept).sum(-2)[:, None].expand(value.shape)
    wanted = {"query": to_scores @ key.double(), "key": to_scores.mT @ query.double(), "value": to_value}
    for name, right in wanted.items():
        found = seen.values[f"gradient_{name}"]
        if found is None:
            return f"in training mode no gradient reaches `{name}`"
        if not ((found.double() - right).abs() <= 1e-4 * right.abs().max() + 1e-12).all():
            return f"in training mode the gradient for `{name}` does not match the weights that were applied"
    return None


@checker
def drops_entries(
    seen: Observation, p: float, shape: tuple[int, ...], size: tuple[int, ...], values: torch.Tensor, mix: torch.Tensor
) -> Problem:
    """Training mode drops single weights: compares two calls with one in eval mode.

    shape, size  shapes of the weights, (B, H, T, S), and of the output, (B, T, D)
    values, mix  each head's values, (B, S, H, K), and the output projection, (D, H * K)

    2 * 2304 weights, each dropped with probability 0.3. Two slices of n entries have the same pattern with probability
    0.58 ** n; the smallest compared have 48 entries: 5e-12 each, 1e-9 for all of them.
    """
    plain, clean = (t.double() for t in seen.values["clean"])
    if (clean == 0).any():
        return tagged("eval mode drops, too", "in eval mode some weights are 0, though nothing is blocked")
    patterns = []
    for name in ("first", "second"):
        output, given = (t.double() for t in seen.values[name])
        if tuple(given.shape) != tuple(shape) or tuple(output.shape) != tuple(size):
            return "in training mode the output or the weights do not have the right shape"
        kept = given != 0
        if torch.allclose(given, clean, rtol=1e-4) and not torch.allclose(output, plain, rtol=1e-4, atol=1e-6):
            text = "in training mode the output differs from eval mode, but none of the returned weights is dropped"
            return tagged(_where_it_fell(output, mix, p), text)
        if not torch.allclose(given[kept] * (1 - p), clean[kept], rtol=1e-4, atol=1e-7):
            text = "in training mode the weights are neither 0 nor the weights of eval mode times 1 / (1 - dropout)"
            return dropped_otherwise(text, given, clean, p)
        wanted = torch.einsum("bhts,bshk,dhk->btd", given, values.double(), mix.double().unflatten(1, (shape[1], -1)))
        if not torch.allclose(output, wanted, rtol=1e-3, atol=1e-4 * float(wanted.abs().max())):
            text = "in training mode the output does not match the returned weights"
            return tagged("the output is dropped, too" if (output == 0).any() else "", text)
        patterns.append(kept)
    return _patterns_apart(patterns, p)


def _patterns_apart(patterns: list[torch.Tensor], p: float) -> Problem:
    """What is wrong with two calls' patterns of kept weights, bool (B, H, T, S)."""
    heads = torch.stack(patterns).flatten(3)
    if not heads.all() and (heads.all(-1) | ~heads.any(-1)).all():
        return tagged(
            "whole heads are dropped", "a head loses all its weights or none: dropout must decide entry by entry"
        )
    if wrong := too_many_or_few(~torch.stack(patterns), p):
        return wrong
    if torch.equal(*patterns):
        return "two calls drop the same weights"
    for dim, what in enumerate(("sentences", "heads", "queries", "keys")):
        slices = patterns[0].movedim(dim, 0).flatten(1)
        if (slices[1:] == slices[:-1]).all(1).any():
            return f"two {what} lose the same weights: dropout must decide entry by entry"
    return None


def _where_it_fell(output: torch.Tensor, mix: torch.Tensor, p: float) -> str:
    """A tag for what was dropped, if not the returned weights."""
    if (output == 0).any():
        return "the output is dropped"
    merged = torch.linalg.solve(mix.double(), output.mT).mT
    found = merged.abs() < 1e-6 * merged.abs().max()
    return "what the heads found is dropped" if found.float().mean() > p / 2 else "other weights are returned"


@checker
def drops_attention_weights(seen: Observation, x: torch.Tensor, p: float, heads: int) -> Problem:
    """A block drops attention weights, which are recovered from its result.

    Queries and keys are 0, so every weight is 1 / T; values are the normalised words of x (B, T, D), the output
    projection is the identity, and the mlp gives 0. For each head, what is added to x is then the weights times a
    matrix with independent rows, whose pseudoinverse gives the weights back. There are 2304 weights per call:
    `within_chance` checks how many are dropped, and two calls drop the same with a probability below 1e-400.
    """
    T, D = x.shape[1:]
    values = F.layer_norm(x, (D,)).unflatten(-1, (heads, -1)).transpose(1, 2)  # (B, H, T, K)
    patterns = []
    for name in ("first", "second"):
        out = seen.values[name]
        if out.shape != x.shape or not out.isfinite().all():
            return "in training mode the result is not of shape (B, T, D), or not finite"
        added = (out - x).unflatten(-1, (heads, -1)).transpose(1, 2)
        weights = added @ torch.linalg.pinv(values)
        if not torch.allclose(weights @ values, added, atol=1e-8):
            whole = (added.abs() < 1e-12).double().mean() > p / 2
            text = "in training mode dropout is not applied to the attention weights"
            return tagged("what attention gives is dropped" if whole else "", text)
        dropped, kept = weights.abs() < 1e-8, (weights - 1 / T / (1 - p)).abs() < 1e-8
        if not (dropped | kept).all():
            text = "in training mode a weight is neither 0 nor the weight of eval mode times 1 / (1 - dropout)"
            return dropped_otherwise(text, weights.where(~dropped, 0.0), torch.full_like(weights, 1 / T), p)
        if wrong := too_many_or_few(dropped, p):
            return wrong
        patterns.append(dropped)
    return "two calls drop the same weights" if torch.equal(*patterns) else None


@checker
def dropout_only_in_attention(seen: Observation, x: torch.Tensor, p: float) -> Problem:
    """A block whose attention gives 0 returns the same in both modes.
    "out" is observed in training mode, "clean" in eval mode."""
    out, clean = seen.values["out"], seen.values["clean"]
    if torch.allclose(out, clean, rtol=1e-4, atol=1e-6):
        return None
    whole = ((out - x).abs() < 1e-6).float().mean() > p / 2
    text = "in training mode the mlp gives a different result than in eval mode"
    return tagged("what the mlp gives is dropped" if whole else "something in the mlp is dropped", text)


@checker
def drops_again_after_eval(seen: Observation) -> Problem:
    """Calls in training mode still differ after a call in eval mode.
    "one" and "again" come before it, "later" and "last" after it. How they differ is checked elsewhere. Two calls drop
    the same of 120 weights with a probability below 1e-28."""
    one, again, later, last = (seen.values[name] for name in ("one", "again", "later", "last"))
    before, after = (not all(map(torch.equal, *pair)) for pair in ((one, again), (later, last)))
    return "after a call in eval mode, training mode no longer drops anything" if before and not after else None
