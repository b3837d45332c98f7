"""Building blocks of the test cases of `evaluate`."""

import torch

from grading.exercises.exercise import EXERCISE, Script, helper, method, ref

from ..common import gentle, window_state, windowed


def looking(draw, *, training, before=(), **options):
    """A model fully in training or eval mode, and its evaluation: "loss"."""
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
    """Add an evaluation for each of six targets in turn; return their results.

    An answer that ignores the targets returns the same each time. No measure can: even the accuracies add up to 1, and
    15 positions cannot be divided evenly among 6 tokens.
    """
    targets = s.inputs["targets"]
    return [s.call(EXERCISE, ref(model), s.ids, (targets + k) % 6, name=f"{model} {k}") for k in range(6)]


def with_and_without_gradients(draw):
    """Two equal models, one with contrary logits where gradients could flow.

    An evaluation without gradients gives the same for both, whatever it measures. Afterwards gradients flow again.
    """
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
