"""What the cases of `load_torch_weights` are made of, and how some are judged."""

import torch

from grading.judge.exercise import SUBJECT, Script, specimen


def loading(ours_state, theirs_state, n_heads, batch_first=False, order=("W_q", "W_k", "W_v", "W_o")):
    """A script with the inputs ours and theirs, in which the exercise has been called as "result"."""
    width = len(ours_state["W_q.weight"])
    s = Script(
        ours=specimen("Projections", ours_state, width=width, n_heads=n_heads, order=list(order)),
        theirs=specimen("torch_attention", theirs_state, width=width, n_heads=n_heads, batch_first=batch_first),
    )
    s.call(SUBJECT, s.ours, s.theirs, name="result")
    return s


def two_states(draw, width, dtype=torch.float32):
    ours = {f"W_{name}.weight": draw.normal(width, width, dtype=dtype) for name in "qkvo"}
    theirs = {
        "in_proj_weight": draw.normal(3 * width, width, dtype=dtype),
        "out_proj.weight": draw.normal(width, width, dtype=dtype),
    }
    return ours, theirs


def of_zeros(width):
    return {f"W_{name}.weight": torch.zeros(width, width) for name in "qkvo"}
