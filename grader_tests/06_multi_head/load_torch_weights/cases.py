"""Building blocks of the test cases of `load_torch_weights`."""

import torch

from grading.exercises.exercise import EXERCISE, Script, helper, method, ref, sample_model

TOLD = ref("loaded"), ref("given")  # the states of our module and of the result right after the call


def loading(
    ours_state,
    theirs_state,
    n_heads,
    batch_first=False,
    order=("W_q", "W_k", "W_v", "W_o"),
    *,
    told=False,
    training=False,
    **inputs,
):
    """A script that calls the exercise with the modules "ours" and "theirs": "result".

    told      TOLD can be observed
    training  theirs is in training mode
    """
    width = len(ours_state["W_q.weight"])
    s = Script(
        ours=sample_model("Projections", ours_state, width=width, n_heads=n_heads, order=list(order)),
        theirs=sample_model("torch_attention", theirs_state, width=width, n_heads=n_heads, batch_first=batch_first),
        **inputs,
    )
    if training:
        s.call(method(s.theirs, "train"))
    s.call(EXERCISE, s.ours, s.theirs, name="result")
    if told:
        s.call(helper("state_of"), s.ours, name="loaded")
        s.call(helper("state_of"), ref("result"), name="given")
    return s


def went_backward(s, module, *inputs):
    """Add backward() from the sum of the module's squared output: "gradients"."""
    s.call(module, *inputs, name="out")
    s.call(method(ref("out", 0), "square"), name="squares")
    s.call(method(ref("squares"), "sum"), name="total")
    s.call(helper("backward"), ref("total"))
    s.call(helper("gradients_of"), module, name="gradients")


def two_states(draw, width, dtype=torch.float32):
    ours = {f"W_{name}.weight": draw.normal(width, width, dtype=dtype) for name in "qkvo"}
    theirs = {
        "in_proj_weight": draw.normal(3 * width, width, dtype=dtype),
        "out_proj.weight": draw.normal(width, width, dtype=dtype),
    }
    return ours, theirs


def of_zeros(width):
    return {f"W_{name}.weight": torch.zeros(width, width) for name in "qkvo"}
