"""Building blocks of the test cases of `ScaledDotProductAttention`."""

import torch

from grading.exercises.exercise import EXERCISE, Script, helper, method, ref

from ..common import three


def attending(draw, *arguments, mode=None, sizes=(), T=3, S=5, K=6, V=2, dtype=torch.float32, ahead=None, **options):
    """A module that is made and called in training mode, or after the method `mode`.

    mode   a method and its arguments
    ahead  the first entry of all queries and keys, which shifts all scores but changes no weight
    """
    q, k, v = three(draw, *sizes, T=T, S=S, K=K, V=V, dtype=dtype)
    if ahead is not None:
        q[..., 0], k[..., 0] = ahead, ahead
    s = Script(query=q, key=k, value=v)
    m = s.call(EXERCISE, *arguments, name="module", **options)
    if mode:
        earlier = [s.call(method(x, "clone")) for x in (s.query, s.key, s.value)]
        s.call(m, *earlier)  # dropout in an earlier call must leave no trace
        s.call(method(m, mode[0]), *mode[1:])
    s.call(m, s.query, s.key, s.value, name="out")
    return s.case()


def longer(draw, few, more):
    """One module called with `few` queries and keys, then with `more`."""
    lengths = (("few", few), ("more", more))
    given = {
        f"{name}_{length}": x for length, n in lengths for name, x in zip("qkv", three(draw, T=n, S=n), strict=True)
    }
    s = Script(**given)
    m = s.call(EXERCISE, name="module")
    for length, _ in lengths:
        s.call(m, *(ref(f"{name}_{length}") for name in "qkv"), name=f"out_{length}")
    return s.case().label(f"two calls of one module, with {few} positions and with {more}")


def dropping(draw, p, *sizes, dtype=torch.float32):
    """Four calls of a module in training mode: the case, weights before dropout, values."""
    query, key, value = three(draw, *sizes, T=24, S=30, K=4, V=5, dtype=dtype)
    s = Script(query=query, key=key, value=value)
    m = s.call(EXERCISE, dropout=p, name="module")
    s.call(helper("repeat"), 4, m, s.query, s.key, s.value, name="outs")
    shapes = ", ".join(str(tuple(x.shape)) for x in (query, key))
    text = f"ScaledDotProductAttention(dropout={p:.2f}) in training mode, four calls on {shapes}"
    plain = (query.double() @ key.double().mT / 2).softmax(-1)
    return s.case(ref("outs")).label(text), plain, value.double()


def twice(draw, tag, **options):
    """One module called twice without dropout.

    Without options it is called as made; with options, in eval mode.
    """
    query, key, value = three(draw, T=12, S=10)
    s = Script(query=query, key=key, value=value)
    m = s.call(EXERCISE, name="module", **options)
    if options:
        s.call(method(m, "eval"))
    for name in ("one", "again"):
        s.call(m, s.query, s.key, s.value, name=name)
    made = "dropout=…).eval(" if options else ""
    made_twice = s.case(ref("one"), ref("again")).check_with("deterministic", tag=tag)
    return made_twice.label(f"two calls of ScaledDotProductAttention({made}) with the same arguments")


def back_in_training(draw):
    """Two calls of a module in training mode, one in eval mode, two in training mode again."""
    query, key, value = three(draw, T=12, S=10)
    s = Script(query=query, key=key, value=value)
    m = s.call(EXERCISE, dropout=draw.number(0.3, 0.6), name="module")
    for mode, names in (("train", ("one", "again")), ("eval", ("clean",)), ("train", ("later", "last"))):
        s.call(method(m, mode))
        for name in names:
            s.call(m, s.query, s.key, s.value, name=name)
    made = s.case(*(ref(name) for name in ("one", "again", "later", "last"))).check_with("drops_again_after_eval")
    return made.label("a module in training mode, before and after a call in eval mode")
