"""`load_torch_weights`: copy an nn.MultiheadAttention's weights into our module."""

import torch

from grading.exercises.exercise import helper, ref, step

from .cases import (
    TOLD,
    loading,
    of_zeros,
    two_states,
    went_backward,
)

# `theirs` is PyTorch's own layer, and an answer may call it to compare results: nothing is forbidden here.
load = step(
    "load_torch_weights",
    see="Exercise: `load_torch_weights(ours, theirs)` (extra)",
    hints=(
        "`theirs` has two parameters, but you need four matrices. What is the shape of `in_proj_weight`? Which of its "
        "rows make the queries?",
        "Both sides are `nn.Linear` weights, so no transpose is needed. Cut `in_proj_weight` into three pieces of D "
        "rows, and copy numbers into the existing parameters, without recording gradients.",
        "`with torch.no_grad():`, then for each matrix `ours.W_q.weight.copy_(…)`; the pieces by `.chunk(3)`; the last "
        "one from `theirs.out_proj.weight`. Do not forget `return ours`.",
    ),
)


@load.oracle
def load_oracle(ours, theirs):
    size = theirs.out_proj.weight.shape[0]
    rows = {"W_q": 0, "W_k": size, "W_v": 2 * size}
    with torch.no_grad():
        for name, first in rows.items():
            getattr(ours, name).weight.copy_(theirs.in_proj_weight[first : first + size])
        ours.W_o.weight.copy_(theirs.out_proj.weight)
    return ours


@load.example("width 1")
def _():
    theirs = {"in_proj_weight": torch.tensor([[2.0], [3.0], [5.0]]), "out_proj.weight": torch.tensor([[7.0]])}
    s = loading(of_zeros(1), theirs, 1)
    s.call(helper("state_of"), s.ours)
    yield s.case().label("the weights of ours, after in_proj_weight = [[2], [3], [5]], out_proj.weight = [[7]]")


@load.example("width 2, given as numbers 0.0 to 1.1 and 2.0 to 2.3")
def _():
    theirs = {
        "in_proj_weight": torch.arange(12.0).view(6, 2) / 10,
        "out_proj.weight": torch.tensor([[2.0, 2.1], [2.2, 2.3]]),
    }
    for n_heads, order in ((2, ("W_q", "W_k", "W_v", "W_o")), (1, ("W_o", "W_v", "W_k", "W_q"))):
        s = loading(of_zeros(2), theirs, n_heads, order=order)
        s.call(helper("state_of"), s.ours)
        yield s.case().label(f"the weights of ours, a module made with {', '.join(order)} in this order")
    s = loading(of_zeros(2), theirs, 2)
    s.call(helper("trainable"), s.ours, name="trainable")
    s.call(helper("fill"), s.ours, 9.0)
    s.call(helper("state_of"), ref("result"), name="filled")
    text = "the weights of the result, after ours was filled with 9, and whether they can be trained"
    yield s.case(ref("result"), ref("filled"), ref("trainable")).label(text)
    s = loading(of_zeros(2), theirs, 2)
    s.call(helper("fill"), s.ours, 9.0)
    s.call(helper("state_of"), s.theirs)
    yield s.case().label("the weights of theirs, after ours was filled with 9")


@load.criterion("every weight in its place", points=1.5)
def _(draw):
    for width, n_heads, batch_first in ((6, 2, True), (9, 3, False)):
        s = loading(*two_states(draw, width), n_heads, batch_first)
        s.call(helper("state_of"), s.ours)
        yield s.case().label(f"the weights of ours, with D = {width} and H = {n_heads}")
    s = loading(*two_states(draw, 8, torch.float64), 2)
    s.call(helper("state_of"), s.ours)
    # Copies must be exact: float64's usual tolerance would not show a detour by float32
    yield s.case().tolerance(1e-12).label("the weights of ours, in float64")
    s = loading(*two_states(draw, 5), 1, order=("W_o", "W_v", "W_q", "W_k"))
    s.call(helper("state_of"), s.ours)
    yield s.case().label("the weights of ours, in a module that has made its layers in another order")


@load.criterion("neither changes with the other afterwards", points=0.75)
def _(draw):
    ours, theirs = two_states(draw, 6)
    s = loading(ours, theirs, 2, told=True)
    s.call(helper("fill"), s.ours, 3.0)
    s.call(helper("state_of"), s.theirs, name="kept")
    made = s.case(*TOLD, ref("kept")).check_with("foreign_parameters_unchanged", theirs=theirs)
    yield made.label("the weights of theirs, after ours was filled with 3")
    ours, theirs = two_states(draw, 6)
    s = loading(ours, theirs, 3, told=True)
    s.call(helper("fill"), s.theirs, -2.0)
    s.call(helper("state_of"), s.ours, name="after")
    made = s.case(*TOLD, ref("after")).check_with("own_parameters_unchanged", theirs=theirs)
    yield made.label("the weights of ours, before and after theirs was filled with -2")


@load.criterion("returns ours, with weights that can be trained", points=0.5)
def _(draw):
    ours, theirs = two_states(draw, 6)
    s = loading(ours, theirs, 2, told=True, x=draw.normal(3, 5, 6))
    went_backward(s, s.ours, s.x)
    s.call(helper("fill"), s.ours, 9.0)
    s.call(helper("state_of"), ref("result"), name="filled")
    made = s.case(*TOLD, ref("gradients"), ref("filled")).check_with("own_trainable_module", theirs=theirs)
    yield made.label("what a backward() gives to ours, and the result's weights after ours was filled with 9")


@load.criterion("theirs is left as it was", points=0.25)
def _(draw):
    ours, theirs = two_states(draw, 6)
    s = loading(ours, theirs, 2, told=True, training=True, x=draw.normal(5, 3, 6))
    s.call(helper("state_of"), s.theirs, name="kept")
    s.call(helper("modes_of"), s.theirs, name="modes")
    went_backward(s, s.theirs, s.x, s.x, s.x)
    case = s.case(*TOLD, ref("kept"), ref("modes"), ref("gradients"))
    made = case.check_with("foreign_parameters_unchanged", theirs=theirs)
    yield made.label("theirs, and what a backward() gives to it, after load_torch_weights(ours, theirs)")
