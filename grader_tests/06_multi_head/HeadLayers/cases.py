"""Building blocks of the test cases of `HeadLayers`."""

import torch

from grading.exercises.exercise import EXERCISE, Script, helper, method, ref

LAYERS = ("W_q", "W_k", "W_v", "W_o")


def weights(draw, D, dtype=torch.float32):
    """The four weights, (D, D), which differ."""
    return {f"{name}.weight": draw.normal(D, D, scale=D**-0.5, dtype=dtype) for name in LAYERS}


def called(state, n_heads, x, **options):
    """A case that makes the module, loads its weights and calls each of its layers with x."""
    s, D = Script(x=x), len(state["W_q.weight"])
    m = s.call(EXERCISE, D, n_heads, **options, name="module")
    s.call(helper("load_weights"), m, state, exactly=False)
    for name in LAYERS:
        s.call(s.call(helper("attribute"), m, name), s.x, name=name)
    given = ", ".join([str(D), str(n_heads), *(f"{name}={value}" for name, value in options.items())])
    return s.case(*map(ref, LAYERS)).label(f"the layers of HeadLayers({given}), each called with x {tuple(x.shape)}")


def named(D, n_heads, state):
    """A case that gives the module exactly these weights."""
    s = Script()
    m = s.call(EXERCISE, D, n_heads, name="module")
    # raises for a wrong name or shape, or an extra one; the module itself does not matter here
    s.call(helper("load_weights"), m, state, name="prepared")
    return s.case(ref("prepared")).check_with("any_result").label(f"HeadLayers({D}, {n_heads}), given weights")


def rate(n_heads, *given, **options):
    """A case that reads the probability of the module's dropout."""
    s = Script()
    m = s.call(EXERCISE, 6, n_heads, *given, **options, name="module")
    s.call(helper("attribute"), m, "dropout", name="layer")
    s.call(helper("attribute"), ref("layer"), "p", name="p")
    told = ", ".join(["6", str(n_heads), *map(str, given), *(f"{name}={value}" for name, value in options.items())])
    return s.case(ref("p")).label(f"HeadLayers({told}).dropout.p")


def dropping(n_heads, p, x, training):
    """A case that calls the module's dropout with x, in a mode, when it drops nothing."""
    s = Script(x=x)
    m = s.call(EXERCISE, 6, n_heads, p, name="module")
    s.call(method(m, "train"), training)
    s.call(s.call(helper("attribute"), m, "dropout"), s.x, name="out")
    mode = "training" if training else "eval"
    return s.case(ref("out")).label(f"HeadLayers(6, {n_heads}, {p}).dropout in {mode} mode; x {tuple(x.shape)}")
