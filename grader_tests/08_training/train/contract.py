"""`train`: a whole training with batches, a schedule, AdamW and a list of losses."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from grading.exercises.exercise import EXERCISE, Script, exercise, generator, helper, method, ref, sample_model

from ..common import window_state
from .cases import (
    BATCH,
    MARGIN,
    PEAK,
    SCHEDULED,
    STEPS,
    TOKENS,
    left_over,
    like_its_contrary,
    on_the_way,
    short,
    trained,
    where_it_reads,
)

TRAINING = "10. Training it"

train = exercise(
    "train",
    see=TRAINING,
    hints=(
        "You have written every part of it. Which of them is called once, before the loop, and which ones in every "
        "step? What does the optimizer not know by itself?",
        "One AdamW for the whole training. In each step: the learning rate of this step into the optimizer, a batch of "
        "the model's block_size, a training step, its loss into the list. A tenth of the steps is warm-up.",
        "`optimizer = torch.optim.AdamW(…, lr=peak)`; `for step in range(steps):` `for group in "
        'optimizer.param_groups: group["lr"] = learning_rate(step, …, …, …)`; `inputs, targets = get_batch(…)`; '
        "`losses.append(train_step(…))`.",
    ),
)


@train.oracle
def train_oracle(model, data, steps, batch_size, generator, peak=3e-3):
    optimizer = torch.optim.AdamW(model.parameters(), lr=peak)
    warmup, T = steps // 10, model.block_size
    losses = []
    model.train()
    for step in range(steps):
        share = (step - warmup) / (steps - warmup)
        rate = (step + 1) / warmup if step < warmup else (1 + math.cos(math.pi * share)) / 2
        optimizer.param_groups[0]["lr"] = peak * rate
        starts = torch.randint(len(data) - T, (batch_size,), generator=generator).to(data.device)
        windows = data.unfold(0, T + 1, 1)[starts]
        loss = F.cross_entropy(model(windows[:, :-1]).movedim(-1, 1), windows[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


@train.example("a text that goes round: 0, 1, 2, 3, 0, 1, …")
def _():
    zeros = {"table.weight": torch.zeros(4, 4)}
    s = Script(model=sample_model("Bigram", zeros, n_tokens=4, block_size=5), data=torch.arange(60) % 4)
    s.call(EXERCISE, s.model, s.data, 40, 4, generator(0), 0.2, name="losses")
    s.call(s.model, torch.tensor([[0, 1, 2, 3]]), name="logits")
    s.call(method(ref("logits"), "argmax"), -1, name="predicted")
    yield s.case(ref("predicted")).label("what the trained model predicts after 0, 1, 2 and 3")


@train.example("one loss for each step")
def _():
    zeros = {"table.weight": torch.zeros(4, 4)}
    s = Script(model=sample_model("Bigram", zeros, n_tokens=4, block_size=5), data=torch.arange(60) % 4)
    s.call(EXERCISE, s.model, s.data, 20, 4, generator(0), name="losses")
    s.call(method(ref("losses"), "__len__"), name="count")
    s.call(method(ref("losses"), "__getitem__"), 0, name="first")
    yield s.case(ref("count"), ref("first")).label("how many losses train returns in 20 steps, and the first of them")


@train.example("equal generators, equal losses")
def _():
    s = Script(data=torch.arange(200) * 7 % 11)
    zeros = {"table.weight": torch.zeros(11, 11)}
    for name, seed in (("first", 1), ("again", 2)):
        s.call(helper("seed"), seed)
        model = sample_model("Bigram", zeros, n_tokens=11, block_size=3)
        s.call(EXERCISE, model, s.data, 20, 2, generator(5), 0.1, name=f"{name} losses")
        s.call(method(ref(f"{name} losses"), "__getitem__"), 19, name=name)
    s.call(method(ref("first"), "__sub__"), ref("again"), name="difference")
    yield (
        s.case(ref("difference"))
        .tolerance(0, 1.0)
        .label("the last losses of two runs with equal generators, subtracted")
    )


@train.example("in training mode")
def _():
    zeros = {"table.weight": torch.zeros(4, 4)}
    s = Script(model=sample_model("Bigram", zeros, n_tokens=4, block_size=5), data=torch.arange(60) % 4)
    s.call(EXERCISE, s.model, s.data, 20, 2, generator(0), name="losses")
    s.call(helper("attribute"), s.model, "calls", name="calls")
    s.call(method(ref("calls"), "count"), [5, False, True], name="count")
    yield s.case(ref("count")).label("how often the model was trained in eval mode")


@train.criterion("the trained model predicts text that it has not seen", points=1)
def _(draw):
    for peak in (PEAK, PEAK / 3):
        s, follows = trained(draw, peak=peak)
        made = (
            s.case(ref("after"))
            .check_with("has_learned", follows=follows, unseen=s.inputs["unseen"], margin=MARGIN)
            .timeout(20)
        )
        yield made.label(f"train(model, data, {STEPS}, {BATCH}, generator, {peak:g}) on a language of {TOKENS} tokens")
    yield left_over(draw)
    yield where_it_reads(draw)


@train.criterion("AdamW, warm-up over a tenth of the steps, cosine decay to 0", points=0.5)
def _(draw):
    made = on_the_way(draw, draw.number(1e-3, 2e-3))
    yield made.label(f"train for {SCHEDULED} steps, broken off after some, where the gradient is always the same")
    s = Script(model=sample_model("Slope", block_size=3), data=torch.zeros(40, dtype=torch.int64))
    s.call(EXERCISE, s.model, s.data, 100, 2, generator(draw.integer(0, 10**6)))
    s.call(helper("state_of"), s.model, name="after")
    made = s.case(ref("after")).check_with("half_step_size", steps=100, peak=3e-3)
    yield made.label("train for 100 steps with the default peak, where the gradient is always the same")


@train.criterion("a list of losses; batches from the generator; training mode", points=0.5)
def _(draw):
    s, _ = trained(draw, steps=30, length=600)
    yield (
        s.case(ref("losses"))
        .check_with("returns_losses", steps=30, tokens=TOKENS)
        .does_not_mutate()
        .label("the losses of train in 30 steps")
        .timeout(20)
    )

    s = Script(model=sample_model("Slope", block_size=7, crowd=0.1), data=torch.zeros(30, dtype=torch.int64))
    s.call(EXERCISE, s.model, s.data, 20, 5, generator(draw.integer(0, 10**6)), peak=0.5, name="losses")
    s.call(helper("state_of"), s.model, name="after")
    made = s.case(ref("losses"), ref("after")).check_with(
        "losses_match_steps", steps=20, batch_size=5, block_size=7, crowd=0.1, peak=0.5
    )
    yield made.label("train for 20 steps with a batch_size of 5 and windows of 7")

    seed, table = draw.integer(0, 10**6), {"table.weight": torch.zeros(9, 9)}
    s = Script(data=draw.integers(0, 9, 294), generator=generator(seed))
    s.call(helper("generator_state"), s.generator, name="before")
    for name, dice in (("one", s.generator), ("again", generator(seed)), ("other", generator(seed + 1))):
        s.call(helper("seed"), len(name))
        model = sample_model("Bigram", table, n_tokens=9, block_size=4)
        s.call(EXERCISE, model, s.data, 20, 5, dice, peak=0.1, name=name)
    s.call(helper("generator_state"), s.generator, name="after")
    made = s.case(*(ref(name) for name in ("one", "again", "other", "before", "after")))
    yield made.check_with("losses_follow_generator").label("three runs, with equal and with different generators")

    yield like_its_contrary(draw, window_state(draw))
    for few in (1, 10):
        yield short(draw, few)
