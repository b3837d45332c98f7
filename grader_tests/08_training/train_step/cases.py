"""What the cases of `train_step` are made of, and how some are judged."""

import torch

from grading.judge.exercise import SUBJECT, Script, helper, method, ref

from ..common import window_state, windowed


def stepping(
    draw, kind="SGD", *, sharpness=1.0, steps=1, layout=torch.Tensor.contiguous, options=None, before=False, **chosen
):
    """A script with a model (in training mode before?), an optimizer and `steps` steps; "loss" is that of the last."""
    ids = [draw.integers(0, 6, 4, 3) for _ in range(2 * steps)]
    model = windowed(window_state(draw, sharpness=sharpness), **(options or {}))
    # Inputs only: a model takes them as they lie. People who know their batches lay targets flat by `view`, too
    s = Script(model=model, **{f"ids{i}": one if i % 2 else layout(one) for i, one in enumerate(ids)})
    s.call(method(s.model, "train"), before)
    s.call(helper("optimizer"), s.model, kind, name="optimizer", **chosen)
    for i in range(steps):
        s.call(SUBJECT, s.model, ref("optimizer"), ref(f"ids{2 * i}"), ref(f"ids{2 * i + 1}"), name="loss")
    s.call(helper("state_of"), s.model, name="after")
    how = "the gradient's norm is above 1" if sharpness > 1 else "the gradient's norm is below 1"
    return s, f"train_step on ids (4, 3), {kind}; {how}"


def shown(state, *, old=False, kind="SGD", **chosen):
    s = Script(model=windowed(state), ids=torch.tensor([[0, 1], [1, 1]]), targets=torch.tensor([[1, 1], [0, 1]]))
    s.call(helper("optimizer"), s.model, kind, name="optimizer", **chosen)
    if old:
        s.call(s.model, s.ids, name="logits")
        s.call(method(ref("logits"), "sum"), name="total")
        s.call(helper("backward"), ref("total"))
    s.call(SUBJECT, s.model, ref("optimizer"), s.ids, s.targets, name="loss")
    s.call(helper("state_of"), s.model, name="after")
    return s


def trained_in_training_mode(seen, exact):
    learnt = [training for _, training, flows in seen.values["calls"] if flows]
    if not learnt:
        return "the model was never called with gradients"
    if not all(learnt):
        return f"the model{'' if False in learnt else ', or a part of it,'} was in eval mode while it was trained"
    return None
