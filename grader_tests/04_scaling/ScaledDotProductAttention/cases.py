"""What the cases of `ScaledDotProductAttention` are made of, and how some are judged."""

import math

import torch

from grading.judge.exercise import SUBJECT, Script, helper, method, ref, tagged

from ...shared.chance import dropped_otherwise, too_many_or_few
from ..common import three


def attending(draw, *arguments, mode=None, sizes=(), K=6, dtype=torch.float32, **options):
    """A module is made and called, in training mode or as `mode` (a method and its arguments) says."""
    q, k, v = three(draw, *sizes, K=K, dtype=dtype)
    s = Script(query=q, key=k, value=v)
    m = s.call(SUBJECT, *arguments, name="module", **options)
    if mode:
        earlier = [s.call(method(x, "clone")) for x in (s.query, s.key, s.value)]
        s.call(m, *earlier)  # what was dropped before must leave no trace
        s.call(method(m, mode[0]), *mode[1:])
    s.call(m, s.query, s.key, s.value, name="out")
    return s.case()


def longer(draw, few, more):
    """One module on so many queries and keys, then on more of them."""
    lengths = (("few", few), ("more", more))
    given = {
        f"{name}_{length}": x for length, n in lengths for name, x in zip("qkv", three(draw, T=n, S=n), strict=True)
    }
    s = Script(**given)
    m = s.call(SUBJECT, name="module")
    for length, _ in lengths:
        s.call(m, *(ref(f"{name}_{length}") for name in "qkv"), name=f"out_{length}")
    return s.case().described(f"two calls of one module, with {few} positions and with {more}")


def dropping(draw, p, *sizes, dtype=torch.float32):
    """Four calls of one module in training mode. Returns the case, the weights before dropout, and the values."""
    query, key, value = three(draw, *sizes, T=24, S=30, K=4, V=5, dtype=dtype)
    s = Script(query=query, key=key, value=value)
    m = s.call(SUBJECT, dropout=p, name="module")
    s.call(helper("repeat"), 4, m, s.query, s.key, s.value, name="outs")
    shapes = ", ".join(str(tuple(x.shape)) for x in (query, key))
    text = f"ScaledDotProductAttention(dropout={p:.2f}) in training mode, four calls on {shapes}"
    plain = (query.double() @ key.double().mT / 2).softmax(-1)
    return s.case(ref("outs")).described(text), plain, value.double()


def applied(seen, plain):
    """The weights of the four calls as one tensor, or what is wrong with their form."""
    weights = torch.stack([out[1] for out in seen.values["outs"]])
    if weights.shape[1:] != plain.shape:
        return None, f"the weights have shape {tuple(weights.shape[1:])}, and must have {tuple(plain.shape)}"
    if not weights.isfinite().all():
        return None, "some of the weights are NaN or infinite"
    return weights.double(), None


def falls_entry_by_entry(p, plain):
    """Judges which weights were dropped, by their number and by how they lie.

    N = 17280 weights. Along each dimension, calls included, the N / n lines of n weights hold c dropped ones each; the
    sum of (c - n p)^2 / (n p (1 - p)) over the lines has the mean N / n >= 576 and is, for independent entries, farther
    from it than the factors 0.5 to 1.6 with a probability below 1e-12 (Chernoff's bound for chi-squared at 576 degrees
    of freedom: e^-37 above, e^-55 below). Shared entries give n, or 0.
    """

    def judge(seen, exact):
        weights, problem = applied(seen, plain)
        if problem:
            return problem
        dropped = (weights == 0).double()
        if wrong := too_many_or_few(dropped, p):
            return _instead(wrong, seen, weights, plain, p)
        names = ("calls", "batch elements", "heads", "queries", "keys")
        for dim, name in enumerate(names):
            n = dropped.shape[dim]
            squares = (dropped.sum(dim) - n * p).square() / (n * p * (1 - p))
            if not 0.5 < squares.mean() < 1.6:
                text = f"whether a weight is dropped is not decided for each of the {name} on its own"
                return tagged(f"alike for all {name}", text)
        return None

    return judge


def keeps_the_dtype(dtype):
    def judge(seen, exact):
        if any(result.dtype != dtype for out in seen.values["outs"] for result in out):
            return f"in training mode a result has another dtype than the inputs, {dtype}"
        return None

    return judge


def _instead(text, seen, weights, plain, p):
    """What was done to the weights instead; where dropout falls elsewhere, the weights returned do not tell."""
    outputs = [out[0] for out in seen.values["outs"]]
    if (weights != 0).all() and not all(torch.equal(one, outputs[0]) for one in outputs):
        return text
    return dropped_otherwise(text, weights, plain.expand_as(weights), p)


def rescales_survivors(p, plain):
    def judge(seen, exact):
        weights, problem = applied(seen, plain)
        if problem:
            return problem
        wanted = plain.expand_as(weights) / (1 - p)
        wrong = (weights != 0) & ~((weights - wanted).abs() <= 1e-4 * wanted)
        if not wrong.any():
            return None
        text = f"{int(wrong.sum())} of {int((weights != 0).sum())} weights that were not dropped have a wrong size"
        return _instead(text, seen, weights, plain, p)

    return judge


def applies_what_it_returns(plain, value):
    def judge(seen, exact):
        weights, problem = applied(seen, plain)
        if problem:
            return problem
        output = torch.stack([out[0] for out in seen.values["outs"]]).double()
        again = weights @ value
        if output.shape != again.shape:
            return f"the output has shape {tuple(output.shape[1:])}, and must have {tuple(again.shape[1:])}"
        if not ((output - again).abs() <= 1e-4 * again.abs().max()).all():
            text = "the output is not the sum of the values by the weights that were returned"
            return tagged(_what_was_applied(output, weights, plain, value), text)
        return None

    return judge


def _what_was_applied(output, weights, plain, value):
    """A tag: how an output comes about that does not belong to the weights returned."""
    if (output == 0).any():
        return "the output is dropped"
    if (weights != 0).all():
        return "other weights are returned"
    return "other weights are applied" if torch.allclose(output, (plain @ value).expand_as(output), rtol=1e-4) else ""


def gradients_through(p, query, key, value):
    """Judges the gradients of the one output against those of attention with the very weights dropped."""

    def judge(seen, exact):
        weights = seen.values["out"][1]
        leaves = [x.double().requires_grad_() for x in (query, key, value)]
        q, k, v = leaves
        kept = (weights != 0).double() / (1 - p)
        output = (q @ k.mT / math.sqrt(q.shape[-1])).softmax(-1) * kept @ v
        wanted = torch.autograd.grad(output.sum(), leaves)
        for name, right in zip(("query", "key", "value"), wanted, strict=True):
            found = seen.values[f"gradient_{name}"]
            if found is None:
                return f"in training mode no gradient reaches `{name}`"
            if not ((found.double() - right).abs() <= 1e-4 * right.abs().max() + 1e-12).all():
                return f"in training mode the gradient for `{name}` is not that of the weights applied"
        return None

    return judge
