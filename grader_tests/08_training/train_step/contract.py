"""`train_step`: one clipped step of an optimizer, in training mode."""

import torch
from torch.nn import functional as F

from grading.exercises.exercise import EXERCISE, Script, exercise, helper, method, non_contiguous, ref

from ..common import gentle, window_state, windowed
from .cases import in_groups, like_its_contrary, moved_or_ready, moved_or_traced, shown, stepping

STEP = "4. One step"

train_step = exercise(
    "train_step",
    see=STEP,
    hints=(
        "Where do gradients go when backward() is called a second time? And what must have happened before the "
        "optimizer reads them?",
        "Training mode; clear; logits; loss over all positions; backward; clip the norm over all parameters; step. The "
        "loss that you return is the one that you have already computed.",
        "`model.train()`; `optimizer.zero_grad()`; `loss = …`; `loss.…()`; "
        "`nn.utils.clip_grad_norm_(model.parameters(), …)`; `optimizer.…()`; `return loss.…()`.",
    ),
)


@train_step.oracle
def train_step_oracle(model, optimizer, inputs, targets):
    model.train()
    model.zero_grad(set_to_none=True)
    loss = F.cross_entropy(model(inputs).movedim(-1, 1), targets)
    loss.backward()
    found = [p for p in model.parameters() if p.grad is not None]
    norm = torch.stack([p.grad.norm() for p in found]).norm()
    for p in found:
        p.grad = p.grad / norm.clamp(min=1.0)
    optimizer.step()
    return loss.item()


train_step.example(
    "the loss of a small model, before the step",
    shown(gentle(), lr=1.0).case(ref("loss")).label("train_step(model, SGD(lr=1), inputs, targets)"),
    check_types=True,
)
train_step.example(
    "its weights after the step",
    shown(gentle(), lr=1.0).case(ref("after")).label("the parameters after train_step, SGD(lr=1)"),
)


@train_step.example("a gradient longer than 1")
def _():
    state = gentle() | {"out.weight": torch.tensor([[30.0, -20.0], [-10.0, 40.0]])}
    yield shown(state, lr=1.0).case(ref("after")).label("the parameters after train_step; the gradient is long")


train_step.example(
    "old gradients lie about",
    shown(gentle(), old=True, lr=1.0).case(ref("after")).label("the same, after another backward()"),
)


train_step.example(
    "gradients are computed",
    moved_or_traced(gentle(), torch.tensor([[0, 1], [1, 1]]), torch.tensor([[1, 1], [0, 1]])),
)


@train_step.example("Adam")
def _():
    s = shown(gentle(), kind="Adam", lr=0.1, eps=0.1)
    yield s.case(ref("after")).label("the parameters after train_step, Adam(lr=0.1, eps=0.1)")


@train_step.example("a model in eval mode is trained in training mode")
def _():
    s = shown(gentle(), lr=1.0)
    s.call(helper("attribute"), s.model, "calls", name="calls")
    s.call(method(ref("calls"), "count"), [2, False, True], name="count")
    yield s.case(ref("count")).label("how often the model was called with gradients in eval mode")


@train_step.criterion("returns the loss before the step, a float", points=0.75, check_types=True, tries="loss")
def _(draw):
    for sharpness in (0.3, 6.0):
        s, text = stepping(draw, sharpness=sharpness, lr=0.5)
        yield s.case(ref("loss")).label(text)


@train_step.criterion("an SGD step, its gradient clipped to norm 1", points=1.5)
def _(draw):
    for sharpness, lr in ((6.0, 0.5), (0.3, 0.7), (12.0, 2.0)):
        s, text = stepping(draw, sharpness=sharpness, lr=lr)
        yield s.case(ref("after")).label(text)
    yield moved_or_ready(draw)
    yield moved_or_traced(window_state(draw, sharpness=0.3), draw.integers(0, 6, 4, 3), draw.integers(0, 6, 4, 3))


@train_step.criterion("old gradients are cleared", points=1, tries="cleared")
def _(draw):
    # With so many targets the gradient's norm is between 0.1 and 0.5, so clipping to 0.5 shows only above
    s, text = stepping(draw, sharpness=0.3, lr=0.5, steps=3, batch=24)
    yield s.case(ref("after")).label(f"three times {text}")
    state = window_state(draw, sharpness=0.3)
    s = Script(model=windowed(state), ids=draw.integers(0, 6, 18, 4), targets=draw.integers(0, 6, 18, 4))
    s.call(helper("optimizer"), s.model, "SGD", lr=0.5, name="optimizer")
    s.call(s.model, s.targets, name="logits")
    s.call(method(ref("logits"), "sum"), name="total")
    s.call(helper("backward"), ref("total"))
    s.call(EXERCISE, s.model, ref("optimizer"), s.ids, s.targets, name="loss")
    s.call(helper("state_of"), s.model, name="after")
    yield s.case(ref("after")).label("train_step on a model with gradients of an earlier backward()")


@train_step.criterion("in training mode", points=0.75, tries="mode")
def _(draw):
    for before in (False, True):
        yield like_its_contrary(draw, before)


@train_step.criterion("any optimizer, any layout of the inputs", points=0.75, tries="optimizer")
def _(draw):
    # A large eps, so that Adam's step depends on the size of a gradient, and not on the sign of one near 0
    s, text = stepping(draw, "AdamW", sharpness=6.0, steps=3, lr=0.1, eps=0.1, weight_decay=0.5)
    yield s.case(ref("loss"), ref("after")).does_not_mutate().label(f"three times {text}")
    s, text = stepping(draw, "SGD", sharpness=0.3, steps=3, layout=non_contiguous, lr=0.5, momentum=0.9)
    yield s.case(ref("loss"), ref("after")).label(f"three times {text}, with momentum; inputs not contiguous")
    yield in_groups(draw)


@train_step.sizes(points=0.25, B=(1, 4, 60), T=(1, 3, 60))
def _(draw, B, T):
    s = Script(
        model=windowed(window_state(draw, T=T)), ids=draw.integers(0, 6, B, T), targets=draw.integers(0, 6, B, T)
    )
    s.call(helper("optimizer"), s.model, "SGD", lr=0.5, name="optimizer")
    s.call(EXERCISE, s.model, ref("optimizer"), s.ids, s.targets, name="loss")
    s.call(helper("state_of"), s.model, name="after")
    return s.case(ref("loss"), ref("after")).label(f"train_step on ids ({B}, {T}), SGD")
