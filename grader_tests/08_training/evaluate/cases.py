"""What the cases of `evaluate` are made of, and how some are judged."""

import torch

from grading.exercises.exercise import EXERCISE, Script, helper, method, ref

from ..common import gentle, window_state, windowed


def looking(draw, *, training, before=(), **options):
    """A model in training or eval mode, as a whole, and an evaluation of it; "loss" is what it returns."""
    state = window_state(draw, sharpness=2.0)
    model, other = windowed(state, **options), windowed(state | {"out.weight": state["out.weight"].roll(1, 0)})
    s = Script(model=model, other=other, ids=draw.integers(0, 6, 3, 5), targets=draw.integers(0, 6, 3, 5))
    s.call(method(s.model, "train"), training)
    for step in before:
        step(s)
    s.call(EXERCISE, s.model, s.ids, s.targets, name="loss")
    mode = "training" if training else "eval"
    return s, f"evaluate of a model in {mode} mode, ids (3, 5)"


def looked_at(training, **options):
    s = Script(
        model=windowed(gentle(), **options), ids=torch.tensor([[0, 1], [1, 1]]), targets=torch.tensor([[1, 1], [0, 1]])
    )
    s.call(method(s.model, "train"), training)
    s.call(EXERCISE, s.model, s.ids, s.targets, name="loss")
    return s


def asked_in_turn(s, model="model"):
    """Add an evaluation for each of six targets in turn, and refer to what they give.

    An answer that looks at nothing gives the same each time; any measure does not: even the shares of hits add up to 1,
    and 15 places cannot be shared out evenly among 6 tokens.
    """
    targets = s.inputs["targets"]
    return [s.call(EXERCISE, ref(model), s.ids, (targets + k) % 6, name=f"{model} {k}") for k in range(6)]


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

    made = s.case(*asked, ref("logits"), ref("trainable")).check_with("evaluated_without_gradients")
    return made.label("evaluate of two models, one of which gives other logits where gradients could flow")
