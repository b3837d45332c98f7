"""`evaluate`: the mean loss in eval mode, without changes to the model."""

import torch
from torch.nn import functional as F

from grading.exercises.exercise import EXERCISE, Script, exercise, helper, method, non_contiguous, ref, sample_model

from ..common import window_state, windowed
from .cases import asked_in_turn, looked_at, looking, with_and_without_gradients

EVALUATION = "8. Looking without touching"

evaluate = exercise(
    "evaluate",
    see=EVALUATION,
    hints=(
        "What does a dropout layer do if you forget to tell it that this is no training? And who tells it, afterwards, "
        "that training goes on?",
        "Remember the mode, switch to eval mode, compute the loss under no_grad, restore the mode, return a float.",
        "`was = model.training`; `model.eval()`; `with torch.no_grad(): loss = …`; `model.train(was)`; `return "
        "loss.item()`.",
    ),
)


@evaluate.oracle
def evaluate_oracle(model, inputs, targets):
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    with torch.no_grad():
        loss = F.cross_entropy(model(inputs).movedim(-1, 1), targets)
    for part, training in modes:
        part.training = training
    return loss.item()


evaluate.example(
    "the loss of a small model",
    looked_at(False).case(ref("loss")).label("evaluate(model, inputs, targets), ids (2, 2)"),
    check_types=True,
)
evaluate.example(
    "with dropout of 0.9, in training mode before",
    looked_at(True, dropout=0.9).case(ref("loss")).label("evaluate of a model with dropout, ids (2, 2)"),
)


@evaluate.example("back in training mode afterwards, in all its parts")
def _():
    s = looked_at(True, dropout=0.5)
    s.call(helper("modes_of"), s.model, name="modes")
    yield s.case(ref("modes")).label("the mode of every part of the model, after evaluate")


@evaluate.example("a model in eval mode stays in it")
def _():
    s = looked_at(False)
    s.call(helper("modes_of"), s.model, name="modes")
    yield s.case(ref("modes")).label("the mode of every part of the model, after evaluate")


@evaluate.example("without gradients")
def _():
    s = looked_at(True)
    s.call(helper("attribute"), s.model, "calls", name="calls")
    counts = [s.call(method(ref("calls"), "count"), [2, mode, True], name=f"in {mode}") for mode in (False, True)]
    yield s.case(*counts).label("how often the model was called with gradients, in eval and in training mode")


@evaluate.criterion("the mean loss, a float", points=0.5, check_types=True)
def _(draw):
    for sharpness in (1.0, 5.0):
        state = window_state(draw, N=7, D=4, T=6, sharpness=sharpness)
        s = Script(model=windowed(state), ids=draw.integers(0, 7, 4, 6), targets=draw.integers(0, 7, 4, 6))
        s.call(EXERCISE, s.model, s.ids, s.targets, name="loss")
        yield s.case(ref("loss")).label("evaluate on ids (4, 6)")
    state = {"table.weight": draw.normal(9, 9)}
    ids = non_contiguous(draw.integers(0, 9, 5, 3))
    s = Script(
        model=sample_model("Bigram", state, n_tokens=9, block_size=4), ids=ids, targets=draw.integers(0, 9, 5, 3)
    )
    s.call(EXERCISE, s.model, s.ids, s.targets, name="loss")
    yield s.case(ref("loss")).label("evaluate on ids (5, 3), not contiguous")


@evaluate.criterion("in eval mode", points=0.5)
def _(draw):
    for options in ({"dropout": 0.5}, {"batch_norm": True}, {"dropout": 0.9, "batch_norm": True}):
        s, text = looking(draw, training=True, **options)
        yield s.case(ref("loss")).label(f"{text}, with {' and '.join(options)}")
    s, text = looking(draw, training=True, contrary="training")
    yield s.case(ref("loss")).label(f"{text}, which gives other logits while a part of it is in training mode")
    s, text = looking(draw, training=True, dropout=0.5)
    for name in ("one", "again"):
        s.call(EXERCISE, s.model, s.ids, s.targets, name=name)
    made = s.case(ref("one"), ref("again")).check_with("deterministic", tag="dropout falls")
    yield made.label(f"{text}, with dropout, two times more")


@evaluate.criterion("the mode is left as it was, in all parts", points=0.5)
def _(draw):
    for training in (True, False):
        # Two states, to distinguish forgetting the whole model from forgetting its parts
        for contrary in ("resting", "asleep") if training else ("training",):
            s, text = looking(draw, training=training, contrary=contrary)
            s.call(s.model, s.ids, name="logits")
            asked = [*asked_in_turn(s), *asked_in_turn(s, "other")]
            yield (
                s.case(ref("logits"), *asked).check_with("mode_unchanged").label(f"what the model gives after {text}")
            )


@evaluate.criterion("without gradients, and nothing is changed", points=0.5)
def _(draw):
    def went_backward(s):
        s.call(s.model, s.targets, name="logits")
        s.call(method(ref("logits"), "sum"), name="total")
        s.call(helper("backward"), ref("total"))
        s.call(helper("gradients_of"), s.model, name="old gradients")
        s.call(helper("state_of"), s.model, name="before")

    for training in (False, True):
        s, text = looking(draw, training=training, before=[went_backward], batch_norm=True, dropout=0.3)
        s.call(helper("gradients_of"), s.model, name="gradients")
        s.call(helper("state_of"), s.model, name="after")
        s.call(method(s.model, "train"))
        for name in ("one", "another"):
            s.call(s.model, s.ids, name=name)
        names = ("old gradients", "gradients", "before", "after", "one", "another")
        made = s.case(*map(ref, names)).check_with("model_unchanged").does_not_mutate()
        yield made.label(f"the model after {text}")
    yield with_and_without_gradients(draw)
