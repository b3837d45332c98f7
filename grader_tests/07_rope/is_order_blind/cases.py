"""Building blocks of the test cases of `is_order_blind`."""

import math

import torch

from grading.exercises.exercise import call, sample_model

from ...shared import INF


def scrambled(draw, T):
    """A permutation of T > 4 positions without cycles of one or two, and not a shift."""
    assert T > 4
    while True:
        found = draw.permutation(T)
        again = (found == torch.arange(T)) | (found[found] == torch.arange(T))
        if not again.any() and len(((found - torch.arange(T)) % T).unique()) > 1:
            return found


def with_a_pair(draw, T, at):
    """A scrambled permutation that keeps one pair of neighbours together.

    The tokens at `at` and at the next position (after the last, the first) were neighbours before, so that the one at
    `at` sees no difference.
    """
    while True:
        found = scrambled(draw, T)
        if found[(at + 1) % T] == (found[at] + 1) % T:
            return found


def exchanged(T, a, b):
    """The permutation of T positions that exchanges two of them."""
    assert a != b
    found = torch.arange(T)
    found[a], found[b] = b, a
    return found


def beyond(T, reach=0):
    """A bias (T, T) that blocks keys more than `reach` positions after the query."""
    return torch.zeros(T, T).masked_fill(torch.ones(T, T).triu(1 + reach).bool(), -INF)


def window(T, reach):
    """A bias (T, T) that blocks keys more than `reach` positions away."""
    distance = (torch.arange(T)[:, None] - torch.arange(T)).abs()
    return torch.zeros(T, T).masked_fill(distance > reach, -INF)


def wheel(T):
    """A bias (T, T): every token sees itself and the next one, the last sees the first."""
    return torch.zeros(T, T).masked_fill((torch.eye(T) + torch.eye(T).roll(1, 1)) == 0, -INF)


def turns(T, D):
    """Rotations (T, D, D): matrix t rotates neighbouring pairs by t, t / 2, t / 3, …"""
    made = torch.zeros(T, D, D)
    for i in range(D // 2):
        angle = torch.arange(float(T)) / (i + 1)
        made[:, 2 * i, 2 * i] = made[:, 2 * i + 1, 2 * i + 1] = angle.cos()
        made[:, 2 * i, 2 * i + 1], made[:, 2 * i + 1, 2 * i] = -angle.sin(), angle.sin()
    return made


def loud(draw, T, D):
    """Tokens (T, D) with magnitudes from 0.4 to 0.9: none is small or gets all attention."""
    return draw.uniform(T, D, low=0.4, high=0.9) * (1.0 - 2.0 * draw.chance(0.5, T, D))


def in_turn(D):
    """Alternating signs (D,), the first positive."""
    return 1.0 - 2.0 * (torch.arange(D) % 2)


def one_sided(draw, T, D):
    """As `loud`, but with the same signs in all tokens.

    So no mean of tokens is near 0 and, if D is even, it is not near 0 after a layer norm either.
    """
    return loud(draw, T, D).abs() * in_turn(D)


def unlike(draw, T, D, turned):
    """One-sided tokens (T, D), except that those in `turned` have the opposite signs.

    The second feature is the negative of the first. A query that sees a turned token has a very different output,
    higher in one feature and lower in another.
    """
    made = draw.uniform(T, D, low=0.5, high=0.6) * in_turn(D)
    made[:, 1] = -made[:, 0]
    made[turned] *= -1.0
    return made


def nudged(T, i, j, by):
    """A mixture (T, T): the mean of all tokens, plus input j `by` times in output i."""
    matrix = torch.ones(T, T) / T
    matrix[i, j] += by
    return matrix


def balanced(draw, T, D):
    """Tokens (T, D) of magnitude 1 with mean 0, up to rounding. T is even."""
    assert T % 2 == 0
    half = loud(draw, T // 2, D).sign()
    return torch.cat([half, -half])[draw.permutation(T)]


def before(draw, T, D, place, feature, alike):
    """Balanced tokens (T, D); the ones at `place` and before it agree in `feature` or not."""
    while True:
        found = balanced(draw, T, D)
        if (found[place, feature] == found[place - 1, feature]) == alike:
            return found


def telling(draw, tokens, bias, permutation):
    """Tokens drawn by `tokens(draw)` whose order clearly matters to attention with `bias`.

    An output changes by more than a tenth, and the signed differences, of both signs, do not cancel in their sum.
    """

    def attention(x):
        return (x @ x.mT / math.sqrt(x.shape[-1]) + bias).softmax(-1) @ x

    while True:
        found = tokens(draw)
        differences = attention(found[permutation]) - attention(found)[permutation]
        both_signs = min(differences.max(), -differences.min()) > 0.01
        if both_signs and differences.abs().max() > 0.12 and differences.mean().abs() > 5e-4:
            return found


def attending(bias=None, T=7, **options):
    """Attention among T tokens, with `bias` (T, T) if given."""
    return sample_model("biased_attention", bias=torch.zeros(T, T) if bias is None else bias, **options)


def asked(text, function, x, permutation):
    """A call of the exercise on a function, which `text` describes."""
    kind = "" if x.dtype == torch.float32 else " " + str(x.dtype).removeprefix("torch.")
    return call(function, x, permutation).label(f"is_order_blind of {text}; x {tuple(x.shape)}{kind}")
