"""Building blocks of the test cases of `SelfAttention`."""

import torch

from grading.exercises.exercise import EXERCISE, Script, helper, ref


def weights(draw, D, Dk, Dv, dtype=torch.float32):
    """A state dict whose enlarged queries and keys give unequal weights, not one-hot."""
    state = draw.state(dtype=dtype, W_q__weight=(Dk, D), W_k__weight=(Dk, D), W_v__weight=(Dv, D))
    state["W_q.weight"] *= 1.5
    return state


def widths(state):
    """D, Dk and Dv of a module with these weights."""
    (Dk, D), Dv = state["W_q.weight"].shape, len(state["W_v.weight"])
    return D, Dk, Dv


def attend(state, x, *, training=False, exactly=False, before=None):
    """A case that makes a module, loads its weights and calls it with x, perhaps after another call."""
    s = Script(**({"x": x} if before is None else {"before": before, "x": x}))
    m = s.call(EXERCISE, *widths(state), name="module")
    s.call(helper("load_weights"), m, state, training=training, exactly=exactly)
    if before is not None:
        s.call(m, s.before)
    s.call(m, s.x, name="out")
    mode = " in training mode" if training else ""
    again = ", after another x of this shape" if before is not None else ""
    named = ", ".join(map(str, widths(state)))
    return s.case(ref("out")).label(f"SelfAttention({named}){mode}; x {tuple(x.shape)}{again}")
