"""Building blocks of the test cases of `TransformerBlock`."""

import torch

from grading.exercises.exercise import EXERCISE, Script, helper, method, ref


def block_weights(draw, D, dtype=torch.float32):
    """A state dict whose enlarged queries and keys make weights far from equal."""
    state = draw.state(
        dtype=dtype,
        norm_1__weight=(D,),
        norm_1__bias=(D,),
        norm_2__weight=(D,),
        norm_2__bias=(D,),
        attention__in_proj_weight=(3 * D, D),
        attention__out_proj__weight=(D, D),
        mlp__0__weight=(4 * D, D),
        mlp__0__bias=(4 * D,),
        mlp__2__weight=(D, 4 * D),
        mlp__2__bias=(D,),
    )
    state["attention.in_proj_weight"][: 2 * D] *= 1.5
    for norm in ("norm_1", "norm_2"):
        state[f"{norm}.weight"] += 1.0
    return state


def through_block(state, n_heads, *, dropout=0.0, training=False, **inputs):
    """A block made, given weights, and called with x and the mask, if any: "out"."""
    s = Script(**inputs)
    chosen = {"dropout": dropout} if dropout else {}
    m = s.call(EXERCISE, len(state["norm_1.weight"]), n_heads, **chosen, name="module")
    s.call(helper("load_weights"), m, state, training=training, exactly=False)
    s.call(m, s.x, *([s.mask] if "mask" in inputs else []), name="out")
    return s.case(ref("out"))


def future_changed(draw, n_heads, dropout):
    """Two calls with the same dropout and a causal mask that differ in the last word.

    Both are in training mode. The results before the last word must be equal, whatever is dropped.
    """
    x = draw.normal(2, 5, 12)
    s = Script(x=x, changed=torch.cat([x[:, :-1], draw.normal(2, 1, 12)], dim=1), mask=causal(5))
    m = s.call(EXERCISE, 12, n_heads, dropout=dropout, name="module")
    s.call(helper("load_weights"), m, block_weights(draw, 12), training=True, exactly=False)
    for name, given in (("one", s.x), ("again", s.changed)):
        s.call(helper("seed"), 3)
        out = s.call(m, given, s.mask, name=f"{name}, whole")
        s.call(method(out, "narrow"), 1, 0, 4, name=name)
    return s.case(ref("one"), ref("again")).check_with("deterministic", tag="a word sees the next ones")


def causal(T):
    return torch.ones(T, T, dtype=torch.bool).triu(1)


def scattered(draw, T):
    """A random mask that blocks some words from themselves, but no row fully."""
    mask = draw.chance(0.5, T, T)
    mask[range(T), range(-1, T - 1)] = False
    mask[0, 0] = True
    return mask


def small_block():
    """Weights of whole numbers and halves, for the visible examples."""
    even = torch.arange(64.0)
    return {
        "norm_1.weight": torch.tensor([1.0, 2.0]),
        "norm_1.bias": torch.tensor([0.5, 0.0]),
        "norm_2.weight": torch.tensor([2.0, 1.0]),
        "norm_2.bias": torch.tensor([0.0, -0.5]),
        "attention.in_proj_weight": torch.tensor([[1.0, 0], [0, 1], [0, 1], [1, 0], [1, 1], [0, 2]]),
        "attention.out_proj.weight": torch.tensor([[1.0, 0.5], [0, 1]]),
        "mlp.0.weight": (even[:16] % 5 - 2).view(8, 2),
        "mlp.0.bias": even[:8] % 3 - 1,
        "mlp.2.weight": (even[:16] % 7 - 3).view(2, 8) / 2,
        "mlp.2.bias": torch.tensor([0.5, -1.0]),
    }


KINDS = {
    "norm_1": "LayerNorm",
    "norm_2": "LayerNorm",
    "attention": "MultiheadAttention",
    "mlp": "Sequential",
    "mlp[0]": "Linear",
    "mlp[1]": "GELU",
    "mlp[2]": "Linear",
}


SIZES = 8, 12, 32, 2  # batch, words, width, heads
