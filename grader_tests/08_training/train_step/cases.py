"""Building blocks of the test cases of `train_step`."""

import torch

from grading.exercises.exercise import EXERCISE, Script, helper, method, ref

from ..common import window_state, windowed


def stepping(draw, kind="SGD", *, sharpness=0.3, steps=1, batch=4, layout=torch.Tensor.contiguous, **chosen):
    """A script with a model in eval mode, an optimizer and `steps` steps; "loss" is that of the last.

    sharpness  as for `window_state`: 0.3, or 6 and more
    """
    assert sharpness <= 0.3 or sharpness >= 6
    ids = [draw.integers(0, 6, batch, 3) for _ in range(2 * steps)]
    model = windowed(window_state(draw, sharpness=sharpness))
    # Only inputs get another layout: answers may flatten targets by `view`
    s = Script(model=model, **{f"ids{i}": one if i % 2 else layout(one) for i, one in enumerate(ids)})
    s.call(method(s.model, "train"), False)
    s.call(helper("optimizer"), s.model, kind, name="optimizer", **chosen)
    for i in range(steps):
        s.call(EXERCISE, s.model, ref("optimizer"), ref(f"ids{2 * i}"), ref(f"ids{2 * i + 1}"), name="loss")
    s.call(helper("state_of"), s.model, name="after")
    how = "the gradient's norm is above 1" if sharpness > 1 else "the gradient's norm is below 1"
    return s, f"train_step on ids ({batch}, 3), {kind}; {how}"


def in_groups(draw):
    """One step of an optimizer with a parameter group and a rate for each of the parts."""
    ids, targets = draw.integers(0, 6, 4, 3), draw.integers(0, 6, 4, 3)
    s = Script(model=windowed(window_state(draw, sharpness=12.0)), ids=ids, targets=targets)
    s.call(
        helper("optimizer"), s.call(helper("attribute"), s.model, "out", name="out"), "SGD", lr=0.5, name="optimizer"
    )
    for part, lr in (("tokens", 0.2), ("places", 1.0)):
        s.call(helper("parameters"), s.call(helper("attribute"), s.model, part, name=part), name=f"those of {part}")
        s.call(method(ref("optimizer"), "add_param_group"), {"params": ref(f"those of {part}"), "lr": lr})
    s.call(EXERCISE, s.model, ref("optimizer"), s.ids, s.targets)
    s.call(helper("state_of"), s.model, name="after")
    return s.case(ref("after")).label("train_step on ids (4, 3), SGD with three groups; the gradient's norm is above 1")


def moved_or_ready(draw):
    """Whether a step moves a matrix of the model, or leaves a gradient for it.

    A right step may clear its gradients afterwards, but then it has moved the model. A step that moves nothing either
    leaves gradients, so that only the optimizer's step is missing, or has none.
    """
    state, ids, targets = window_state(draw, sharpness=0.3), draw.integers(0, 6, 4, 3), draw.integers(0, 6, 4, 3)
    s = Script(model=windowed(state), ids=ids, targets=targets)
    s.call(helper("attribute"), s.model, "out", name="out")
    s.call(helper("attribute"), ref("out"), "weight", name="gets a gradient")
    case = _moved_or(s, state)
    return case.label("whether train_step moves the model's last matrix, or leaves a gradient for it")


def moved_or_traced(state, ids, targets):
    """Whether a step moves a matrix of the model, or ran `backward()`: of two that move nothing, one does not."""
    s = Script(model=windowed(state, traced=True), ids=ids, targets=targets)
    s.call(helper("attribute"), s.model, "trace", name="gets a gradient")
    return _moved_or(s, state).label("whether train_step moves the model's last matrix, or at least calls backward()")


def _moved_or(s, state):
    """Whether a step moves the model's last matrix, or what "gets a gradient" has one afterwards."""
    s.call(helper("optimizer"), s.model, "SGD", name="optimizer", lr=0.5)
    s.call(EXERCISE, s.model, ref("optimizer"), s.ids, s.targets)
    # A loss of 0 adds 0 to each gradient, and makes one where there is none
    s.call(s.model, s.ids, name="logits")
    s.call(
        helper("backward"), s.call(method(s.call(method(ref("logits"), "sum"), name="sum"), "mul"), 0.0, name="zero")
    )
    s.call(helper("attribute"), s.model, "out", name="last")
    s.call(helper("attribute"), ref("last"), "weight", name="weight")
    s.call(method(s.call(helper("attribute"), ref("gets a gradient"), "grad", name="grad"), "abs"), name="gradient")
    s.call(method(ref("gradient"), "max"), name="largest")
    s.call(method(s.call(method(ref("weight"), "detach"), name="after"), "sub"), state["out.weight"], name="moved")
    s.call(method(s.call(method(ref("moved"), "abs"), name="distance"), "max"), name="farthest")
    s.call(method(s.call(method(ref("farthest"), "add"), ref("largest"), name="both"), "gt"), 1e-6, name="any")
    return s.case(ref("any"))


def shown(state, *, old=False, kind="SGD", **chosen):
    s = Script(model=windowed(state), ids=torch.tensor([[0, 1], [1, 1]]), targets=torch.tensor([[1, 1], [0, 1]]))
    s.call(helper("optimizer"), s.model, kind, name="optimizer", **chosen)
    if old:
        s.call(s.model, s.ids, name="logits")
        s.call(method(ref("logits"), "sum"), name="total")
        s.call(helper("backward"), ref("total"))
    s.call(EXERCISE, s.model, ref("optimizer"), s.ids, s.targets, name="loss")
    s.call(helper("state_of"), s.model, name="after")
    return s


def like_its_contrary(draw, before):
    """Steps of two equal models, one with contrary logits outside training mode.

    A step in training mode moves both alike, whatever the step is. Other targets move them differently.
    """
    state, ids, targets = window_state(draw), draw.integers(0, 6, 4, 3), draw.integers(0, 6, 4, 3)
    s = Script(plain=windowed(state), other=windowed(state), asleep=windowed(state, contrary="asleep"))
    s.inputs["contrary"] = windowed(state, contrary="resting")
    for name in s.inputs:
        s.call(method(ref(name), "train"), before)
        s.call(helper("optimizer"), ref(name), "SGD", name=f"optimizer of {name}", lr=0.1)
        wanted = (targets + 1) % 6 if name == "other" else targets
        s.call(EXERCISE, ref(name), ref(f"optimizer of {name}"), ids, wanted, name=f"loss of {name}")
        s.call(helper("state_of"), ref(name), name=f"after {name}")

    made = s.case(*(ref(f"after {name}") for name in s.inputs)).check_with("steps_in_training_mode", state=state)
    mode = "training" if before else "eval"
    return made.label(f"train_step on models in {mode} mode, one of which gives other logits in eval mode")
