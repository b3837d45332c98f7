"""What the cases of `evaluate` are made of, and how some are judged."""

import torch

from grading.judge.exercise import SUBJECT, Script, method

from ..common import gentle, window_state, windowed


def looking(draw, *, training, before=(), **options):
    """A model in training or eval mode, as a whole, and an evaluation of it; "loss" is what it returns."""
    model = windowed(window_state(draw, sharpness=2.0), **options)
    s = Script(model=model, ids=draw.integers(0, 6, 3, 5), targets=draw.integers(0, 6, 3, 5))
    s.call(method(s.model, "train"), training)
    for step in before:
        step(s)
    s.call(SUBJECT, s.model, s.ids, s.targets, name="loss")
    mode = "training" if training else "eval"
    return s, f"evaluate of a model in {mode} mode, ids (3, 5)"


def looked_at(training, **options):
    s = Script(
        model=windowed(gentle(), **options), ids=torch.tensor([[0, 1], [1, 1]]), targets=torch.tensor([[1, 1], [0, 1]])
    )
    s.call(method(s.model, "train"), training)
    s.call(SUBJECT, s.model, s.ids, s.targets, name="loss")
    return s


def called_in_eval_mode(seen, exact):
    """A copy of the model may have been called instead: what it gave is looked at elsewhere."""
    modes = [training for _, training, _ in seen.values["calls"]]
    if None in modes:
        return "the model was called while parts of it were in training mode, and others in eval mode"
    return "the model was called in training mode" if any(modes) else None


def looked_without_touching(seen, exact):
    *calls, later = seen.values["calls"]
    if any(flows for _, _, flows in calls):
        return "the model was called with gradients switched on"
    if not all(seen.values["trainable"].values()):
        return "parameters are frozen afterwards"
    if not later[-1]:
        return "gradients stay switched off for whatever comes afterwards"
    if seen.changed:
        return "the call changed the ids in place"
    for name, old in seen.values["old gradients"].items():
        new = seen.values["gradients"].get(name)
        if (old is None) != (new is None) or (old is not None and not torch.equal(old, new)):
            return f"the gradient of {name}, from an earlier backward(), was changed"
    if not all(torch.equal(old, seen.values["after"][name]) for name, old in seen.values["before"].items()):
        return "parameters or running statistics of the model were changed"
    if seen.values["p"] != 0.3:
        return "the model's dropout was changed"
    return None
