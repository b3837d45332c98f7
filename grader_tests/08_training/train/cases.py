"""Building blocks of the test cases of `train`."""

import bisect
import math

import torch

from grading.exercises.exercise import EXERCISE, Script, generator, helper, ref, sample_model, student

from ..common import windowed

# A language of 24 tokens, each with two usual successors. The two halves of the vocabulary never mix: the first half of
# a text uses one, the second half the other, so that training has to read all of it. A model's excess is its expected
# loss on unseen text, minus the best possible one; an untrained model has 1.64.
# `python -m benchmarks.training_margins` measures it for right loops and for known bugs, over many seeds: right ones
# have 0.1 to 0.22 (0.29 with a weight decay of 0.3, thirty times the usual one), bugs 0.6 and more. MARGIN is between
# them, ten standard deviations above every right loop, so that less than one in a million exceeds it.
TOKENS, WINDOW, STEPS, BATCH, PEAK, NOISE, MARGIN = 24, 8, 100, 8, 0.3, 0.25, 0.42

# Two successive counts show the size of a step: all steps of the warm-up, then some of the decay, and the last ones
SCHEDULED = 60
COUNTS = [*range(13), 20, 21, 33, 34, 46, 47, 59, 60, 61]


def language(draw):
    """(TOKENS, TOKENS): the probability of each token after each other."""
    half = TOKENS // 2
    follows = torch.zeros(TOKENS, TOKENS, dtype=torch.float64)
    for token in range(TOKENS):
        known = follows[token].view(2, half)[token // half]
        known += NOISE / half
        known[draw.permutation(half)[:2]] += (1 - NOISE) / 2
    return follows


def spoken(draw, follows, first, length):
    """A random text in the language `follows`, beginning with the token `first`."""
    cumulated = (follows.cumsum(-1) / follows.sum(-1, keepdim=True)).tolist()
    tokens = [first]
    for throw in draw.uniform(length - 1, dtype=torch.float64).tolist():
        tokens.append(bisect.bisect_right(cumulated[tokens[-1]], throw))
    return torch.tensor(tokens)


def texts(draw, length):
    """A language, a training text (length,) and 50 windows of unseen text (50, WINDOW).

    `length` is even.
    """
    assert length % 2 == 0
    follows, half = language(draw), TOKENS // 2
    parts = [spoken(draw, follows, draw.integer(i * half, i * half + half), length // 2 + 25 * WINDOW) for i in (0, 1)]
    read, unread = zip(*(part.split([length // 2, 25 * WINDOW]) for part in parts), strict=True)
    return follows, torch.cat(read), torch.cat(unread).view(-1, WINDOW)


def trained(draw, steps=STEPS, length=2500, peak=PEAK):
    """A script that trains a table of logits on a text, to be tested on unseen text.

    A right loop also learns with a third of PEAK; with the square of that it learns next to nothing.
    """
    follows, data, unseen = texts(draw, length)
    table = {"table.weight": torch.zeros(TOKENS, TOKENS)}
    s = Script(model=sample_model("Bigram", table, n_tokens=TOKENS, block_size=WINDOW), data=data, unseen=unseen)
    s.call(EXERCISE, s.model, s.data, steps, BATCH, generator(draw.integer(0, 10**6)), peak, name="losses")
    s.call(helper("state_of"), s.model, name="after")
    return s, follows


def left_over(draw):
    """The gradients left after training with batches of one window of 4 tokens."""
    _, data, _ = texts(draw, 600)
    table = {"table.weight": torch.zeros(TOKENS, TOKENS)}
    s = Script(model=sample_model("Bigram", table, n_tokens=TOKENS, block_size=4), data=data)
    s.call(EXERCISE, s.model, s.data, 30, 1, generator(draw.integer(0, 10**6)), PEAK)
    s.call(helper("gradients_of"), s.model, name="gradients")
    made = s.case().check_with("gradients_from_last_batch", tokens=4)
    return made.label("the gradients after training for 30 steps, each with one window of 4 tokens")


def on_the_way(draw, peak):
    """A training of SCHEDULED steps, stopped after each of COUNTS calls to see the steps."""
    s = Script(model=sample_model("Slope", block_size=3), data=torch.zeros(40, dtype=torch.int64))
    dice = generator(draw.integer(0, 10**6))
    s.call(helper("on_the_way"), COUNTS, student("train"), s.model, s.data, SCHEDULED, 2, dice, peak=peak, name="path")
    warmup = SCHEDULED / 10
    decay = [(1 + math.cos(math.pi * (i - warmup) / (SCHEDULED - warmup))) / 2 for i in range(SCHEDULED)]
    made = s.case().check_with("follows_schedule", counts=COUNTS, steps=SCHEDULED, peak=peak, decay=decay)
    return made.timeout(20)


def like_its_contrary(draw, state):
    """Trainings of two equal models, one with contrary logits outside training mode.

    Both start in eval mode. If all parts are put into training mode, both end up equal. Another text gives another
    model.
    """
    seed, s = draw.integer(0, 10**6), Script(text=draw.integers(0, 6, 50), another=draw.integers(0, 6, 50))
    models = {"plain": windowed(state), "contrary": windowed(state, contrary="resting"), "other": windowed(state)}
    for name, model in models.items():
        s.inputs[name] = model
        s.call(EXERCISE, ref(name), s.another if name == "other" else s.text, 20, 3, generator(seed))
        s.call(helper("state_of"), ref(name), name=f"after {name}")

    made = s.case(*(ref(f"after {name}") for name in models)).check_with("trains_in_training_mode", state=state)
    return made.label("train on models in eval mode, one of which gives other logits in that mode")


def short(draw, steps):
    """A training so short that a tenth of it is less than two steps."""
    zeros = {"table.weight": torch.zeros(9, 9)}
    s = Script(model=sample_model("Bigram", zeros, n_tokens=9, block_size=4), data=draw.integers(0, 9, 80))
    s.call(EXERCISE, s.model, s.data, steps, 3, generator(draw.integer(0, 10**6)), name="losses")

    made = s.case().check_with("loss_before_first_step", steps=steps, tokens=9)
    return made.label(f"train for {steps} step{'s' * (steps > 1)}")


def where_it_reads(draw):
    """A training on a text whose tokens are its positions, which shows what was read."""
    length = 296
    table = {"table.weight": torch.zeros(length, length)}
    s = Script(model=sample_model("Bigram", table, n_tokens=length, block_size=WINDOW), data=torch.arange(length))
    s.call(EXERCISE, s.model, s.data, STEPS, BATCH, generator(draw.integer(0, 10**6)), PEAK)
    s.call(helper("state_of"), s.model, name="after")
    few = 3 * BATCH * WINDOW
    made = s.case(ref("after")).check_with("samples_whole_text", length=length, few=few).timeout(20)
    return made.label(f"train(model, data, {STEPS}, {BATCH}, generator, {PEAK}) on a text of {length} different tokens")
