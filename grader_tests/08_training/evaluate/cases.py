"""What the cases of `evaluate` are made of, and how some are judged."""

import torch

from grading.judge.exercise import SUBJECT, Script, helper, method, ref

from ..common import gentle, window_state, windowed


def looking(draw, *, training, before=(), **options):
    """A model in training or eval mode, as a whole, and an evaluation of it; "loss" is what it returns."""
    state = window_state(draw, sharpness=2.0)
    model, other = windowed(state, **options), windowed(state | {"out.weight": state["out.weight"].roll(1, 0)})
    s = Script(model=model, other=other, ids=draw.integers(0, 6, 3, 5), targets=draw.integers(0, 6, 3, 5))
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


def asked_in_turn(s, model="model"):
    """Add an evaluation for each of six targets in turn, and refer to what they give.

    An answer that looks at nothing gives the same each time; any measure does not: even the shares of hits add up to 1,
    and 15 places cannot be shared out evenly among 6 tokens.
    """
    targets = s.inputs["targets"]
    return [s.call(SUBJECT, ref(model), s.ids, (targets + k) % 6, name=f"{model} {k}") for k in range(6)]


def measures(seen, model="model"):
    """What was given in turn, as floats."""
    return [float(seen.values[f"{model} {k}"]) for k in range(6)]


def looks_at_nothing(seen):
    """What an evaluation does not depend on, in words; None where it depends on the targets and the model."""
    found = measures(seen)
    if len(set(found)) == 1:
        return "the result does not depend on the targets"
    return "the result does not depend on the model" if found == measures(seen, "other") else None


def left_as_it_was(seen, exact):
    """By what a contrary model gives afterwards."""
    if problem := looks_at_nothing(seen):
        return problem
    found, right = seen.values["logits"], exact.values["logits"]
    same = found.shape == right.shape and torch.allclose(found.double(), right, rtol=1e-3, atol=1e-4)
    return None if same else "the model, or a part of it, is not left in the mode that it was in"


def nothing_changed(seen, exact):
    if seen.changed:
        return "the call changed the ids in place"
    for name, old in seen.values["old gradients"].items():
        new = seen.values["gradients"].get(name)
        if (old is None) != (new is None) or (old is not None and not torch.equal(old, new)):
            return f"the gradient of {name}, from an earlier backward(), was changed"
    if not all(torch.equal(old, seen.values["after"][name]) for name, old in seen.values["before"].items()):
        return "parameters or running statistics of the model were changed"
    if torch.equal(seen.values["one"], seen.values["another"]):
        return "the model's dropout was changed"
    return None


def with_and_without_gradients(draw):
    """Two models of equal weights, of which one gives contrary logits where gradients could flow: whatever is measured,
    an evaluation without gradients gives the same for both. Afterwards they flow again."""
    state = window_state(draw, sharpness=2.0)
    s = Script(
        model=windowed(state),
        contrary=windowed(state, contrary="flowing"),
        other=windowed(state | {"out.weight": state["out.weight"].roll(1, 0)}),
        ids=draw.integers(0, 6, 3, 5),
        targets=draw.integers(0, 6, 3, 5),
    )
    asked = [one for model in ("model", "contrary", "other") for one in asked_in_turn(s, model)]
    s.call(s.contrary, s.ids, name="logits")
    s.call(helper("trainable"), s.contrary, name="trainable")

    def judge(seen, exact):
        if problem := looks_at_nothing(seen):
            return problem
        if not torch.allclose(*(torch.tensor(measures(seen, model)) for model in ("model", "contrary")), rtol=1e-4):
            return "the model was called with gradients switched on"
        if not torch.allclose(seen.values["logits"].double(), exact.values["logits"], rtol=1e-3, atol=1e-4):
            return "gradients stay switched off for whatever comes afterwards"
        return None if all(seen.values["trainable"].values()) else "parameters are frozen afterwards"

    made = s.case(*asked, ref("logits"), ref("trainable")).holding(judge)
    return made.described("evaluate of two models, one of which gives other logits where gradients could flow")
