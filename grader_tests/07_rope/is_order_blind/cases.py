"""What the cases of `is_order_blind` are made of, and how some are judged."""

import math

import torch

from grading.exercises.exercise import call, sample_model

from ...shared import INF


def scrambled(draw, T):
    """A permutation of at least five places that returns none after one step or two, and is no shift of all places."""
    assert T > 4
    while True:
        found = draw.permutation(T)
        again = (found == torch.arange(T)) | (found[found] == torch.arange(T))
        if not again.any() and len(((found - torch.arange(T)) % T).unique()) > 1:
            return found


def with_a_pair(draw, T, at):
    """The same, and the token at this place and the one after it, the first after the last, followed each other before:
    the one at this place sees no difference."""
    while True:
        found = scrambled(draw, T)
        if found[(at + 1) % T] == (found[at] + 1) % T:
            return found


def exchanged(T, a, b):
    """The permutation of T places that exchanges two."""
    assert a != b
    found = torch.arange(T)
    found[a], found[b] = b, a
    return found


def beyond(T, reach=0):
    """A bias (T, T) that blocks the keys more than `reach` places after the query."""
    return torch.zeros(T, T).masked_fill(torch.ones(T, T).triu(1 + reach).bool(), -INF)


def window(T, reach):
    """A bias (T, T) that blocks the keys more than `reach` places away, before or after."""
    distance = (torch.arange(T)[:, None] - torch.arange(T)).abs()
    return torch.zeros(T, T).masked_fill(distance > reach, -INF)


def wheel(T):
    """A bias (T, T) by which every token looks at itself and at the next one, the last one at the first."""
    return torch.zeros(T, T).masked_fill((torch.eye(T) + torch.eye(T).roll(1, 1)) == 0, -INF)


def turns(T, D):
    """Rotations (T, D, D): matrix number t turns the neighbouring pairs by t, t / 2, t / 3, …"""
    made = torch.zeros(T, D, D)
    for i in range(D // 2):
        angle = torch.arange(float(T)) / (i + 1)
        made[:, 2 * i, 2 * i] = made[:, 2 * i + 1, 2 * i + 1] = angle.cos()
        made[:, 2 * i, 2 * i + 1], made[:, 2 * i + 1, 2 * i] = -angle.sin(), angle.sin()
    return made


def loud(draw, T, D):
    """Tokens (T, D) with entries between 0.4 and 0.9 in magnitude: none is small, and none takes all attention."""
    return draw.uniform(T, D, low=0.4, high=0.9) * (1.0 - 2.0 * draw.chance(0.5, T, D))


def in_turn(D):
    """Signs (D,), positive and negative in turn."""
    return 1.0 - 2.0 * (torch.arange(D) % 2)


def one_sided(draw, T, D):
    """The same, but the signs are those of the features, alike in all tokens: no mean of tokens is near 0, nor, where
    D is even, is it after a layer norm."""
    return loud(draw, T, D).abs() * in_turn(D)


def unlike(draw, T, D, turned):
    """One-sided tokens (T, D), of which these are turned to the other side, and whose second feature is the opposite
    of the first: where one of another side is seen, outputs move far, upwards in one feature and downwards in another.
    """
    made = draw.uniform(T, D, low=0.5, high=0.6) * in_turn(D)
    made[:, 1] = -made[:, 0]
    made[turned] *= -1.0
    return made


def nudged(T, i, j, by):
    """The mean of all tokens (T, T), and output i holds input j `by` times more."""
    matrix = torch.ones(T, T) / T
    matrix[i, j] += by
    return matrix


def balanced(draw, T, D):
    """Tokens (T, D) of magnitude 1 whose mean is 0: all that is left of their mean is rounding. T is even."""
    assert T % 2 == 0
    half = loud(draw, T // 2, D).sign()
    return torch.cat([half, -half])[draw.permutation(T)]


def before(draw, T, D, place, feature, alike):
    """Balanced tokens (T, D), of which this one and the one before it are alike in a feature, or opposite."""
    while True:
        found = balanced(draw, T, D)
        if (found[place, feature] == found[place - 1, feature]) == alike:
            return found


def telling(draw, tokens, bias, permutation):
    """Tokens, as `tokens(draw)` gives them, whose order shows beyond doubt in attention with this bias: an output moves
    by more than a tenth, and the differences do not cancel where they are added up with their signs."""

    def attention(x):
        return (x @ x.mT / math.sqrt(x.shape[-1]) + bias).softmax(-1) @ x

    while True:
        found = tokens(draw)
        differences = attention(found[permutation]) - attention(found)[permutation]
        if differences.abs().max() > 0.12 and differences.mean().abs() > 5e-4:
            return found


def attending(bias=None, T=7, **options):
    """Attention among T tokens, or with this bias (T, T)."""
    return sample_model("biased_attention", bias=torch.zeros(T, T) if bias is None else bias, **options)


def asked(text, function, x, permutation):
    """The exercise asked about a function, which `text` describes."""
    kind = "" if x.dtype == torch.float32 else " " + str(x.dtype).removeprefix("torch.")
    return call(function, x, permutation).label(f"is_order_blind of {text}; x {tuple(x.shape)}{kind}")
