"""Oracles are the most exact way there is: in float64 they agree with arithmetic of 150 digits on hard numbers.

Here are the exercises whose formula may cancel. The others hand numbers over as they are (`embed`, `split_heads`),
decide (`sees_the_future`), draw (`generate`), or are made of what is here (attention in all its forms). The gradient
of a softmax is a difference that rounds to 1e-16 of the cotangent, and is no exacter.
"""

from __future__ import annotations

import decimal
from decimal import Decimal

import pytest
import torch

from grading.exercises.lesson import load_lesson

from ..support.repository import ROOT

DIGITS = decimal.Context(prec=150, Emin=-(10**6), Emax=10**6)
STEP = Decimal(10) ** -40


def root(x):
    return x.sqrt()


def dot(a, b):
    return [sum(x * y for x, y in zip(a, b, strict=True))]


def cosine(a, b):
    return [dot(a, b)[0] / root(dot(a, a)[0]) / root(dot(b, b)[0])]


def softmax(x):
    powers = [(s - max(x)).exp() for s in x]
    return [p / sum(powers) for p in powers]


def log_softmax(x):
    return [w.ln() for w in softmax(x)]


def entropy(p):
    return [-sum(w * w.ln() for w in p)]


def attention(query, key, value):
    weights = [softmax([dot(q, k)[0] / root(Decimal(len(q))) for k in key]) for q in query]
    outputs = [sum(w * v[c] for w, v in zip(row, value, strict=True)) for row in weights for c in range(len(value[0]))]
    return outputs + [w for row in weights for w in row]


def loss(logits):
    return [-sum(log_softmax(row)[0] for row in logits[0]) / len(logits[0])]


FAR = [[18.0, 0.0, 0.0], [0.0, 30.0, 0.25], [0.0, -120.0, 1.5], [1e8, 1e8, 1e8 - 2], [0.5, 0.25, -0.125], [3.0]]
PAIRS = [([3.0, 4.0], [4.0, 3.0]), ([1e-7, 2e-7, 5e-7], [1e7, 3e7, -2e6]), ([1.0, 1e-4], [1.0, 0.0])]
TABLES = [[[1000.0, 3.0, -2.0], [1000.0, -1.0, 4.0]], [[100.0, 1.0, 2.0], [100.0, -3.0, 1.0], [100.0, 0.5, 0.0]]]
HARD = [
    *(("01_dot_products", "dot", dot, pair, ()) for pair in PAIRS),
    *(("01_dot_products", "cosine_similarity", cosine, pair, ()) for pair in PAIRS),
    *(("02_softmax", "softmax", softmax, (x,), ()) for x in [FAR[0], *FAR[2:]]),
    *(("02_softmax", "log_softmax", log_softmax, (x,), ()) for x in FAR),
    *(("02_softmax", "softmax_with_temperature", softmax, (x,), (1.0,)) for x in [FAR[0], *FAR[2:]]),
    *(
        ("02_softmax", "entropy", entropy, (p,), ())
        for p in ([0.5, 0.5], [1 - 2.0**-30, 2.0**-30], [1e-20, 0.25, 0.75])
    ),
    (
        "04_scaling",
        "scaled_dot_product_attention",
        attention,
        ([[3.0, 1.0], [0.5, -2.0]], [[2.0, 9.0], [1.0, -1.0], [0.0, 2.0]], TABLES[1]),
        (),
    ),
    ("05_causal_mask", "masked_attention", attention, ([[2.0, 1.0]], [[9.0, 3.0], [1.0, 0.5]], [[3.0], [5.0]]), ()),
    *(
        ("08_training", "language_model_loss", loss, ([[x, y]],), (torch.tensor([[0, 0]]),))
        for x in FAR[:4]
        for y in ([10_018.0, 1e4, 1e4 - 1], [0.0, 1e4, 3.0])
    ),
]
NAMES = [f"{name}-{i}" for i, (_, name, *_) in enumerate(HARD)]


def exactly(value):
    return [exactly(v) for v in value] if isinstance(value, list) else Decimal(value)


def places(value, path=()):
    """Where every number of nested lists stands."""
    if isinstance(value, list):
        return [place for i, v in enumerate(value) for place in places(v, (*path, i))]
    return [path]


def moved(value, place, step):
    if not place:
        return value + step
    return [moved(v, place[1:], step) if i == place[0] else v for i, v in enumerate(value)]


def slope(function, args, which, place, cotangent):
    """The derivative of the results' sum, weighted by the cotangent, by one number among the arguments."""

    def total(step):
        changed = [moved(a, place, step) if i == which else a for i, a in enumerate(args)]
        return sum(Decimal(c) * r for c, r in zip(cotangent, function(*changed), strict=True))

    return (total(STEP) - total(-STEP)) / (2 * STEP)


def near(found, right, room):
    largest = max(abs(r) for r in right)
    return all(
        abs(Decimal(f) - r) <= room * (abs(r) + largest * Decimal("1e-3")) for f, r in zip(found, right, strict=True)
    )


@pytest.mark.parametrize(("lesson", "name", "exact", "args", "rest"), HARD, ids=NAMES)
def test_an_oracle_is_exact_and_so_is_its_gradient(lesson, name, exact, args, rest):
    oracle = load_lesson(ROOT / "grader_tests" / lesson).exercises[name].answer
    tensors = [torch.tensor(a, dtype=torch.float64, requires_grad=True) for a in args]
    results = oracle(*tensors, *rest)
    flat = torch.cat([r.flatten() for r in (results if isinstance(results, tuple) else (results,))])
    cotangent = [(-1) ** i * (i + 1.5) for i in range(len(flat))]
    found = torch.autograd.grad(flat, tensors, torch.tensor(cotangent, dtype=torch.float64))
    with decimal.localcontext(DIGITS):
        given = [exactly(a) for a in args]
        right = exact(*given)
        assert near(flat.tolist(), right, Decimal("1e-12"))
        for which, gradient in enumerate(found):
            slopes = [slope(exact, given, which, place, cotangent) for place in places(args[which])]
            assert near(gradient.flatten().tolist(), slopes, Decimal("1e-7")), (gradient, slopes)
