"""What the cases of `train` are made of, and how some are judged."""

import bisect
import itertools
import math

import torch

from grading.judge.exercise import SUBJECT, Script, generator, helper, ref, specimen, student, tagged

from ..common import windowed

# A language of 24 tokens, each with two usual successors. The two halves of the vocabulary never meet: the first half
# of a text is written in the one, the second in the other, so that all of it has to be read. The excess of a model is
# how much more than the best possible loss it expects to have on text that it has not seen; of one that knows nothing
# it is 1.64. `python -m benchmarks.training_margins` measures it for right loops and for known bugs, over many seeds:
# right ones have 0.1 to 0.22 (0.29 with a weight decay of 0.3, thirty times the usual one), bugs 0.6 and more. MARGIN
# lies between, ten standard deviations above every right loop, so that less than one in a million is beyond it.
TOKENS, WINDOW, STEPS, BATCH, PEAK, NOISE, MARGIN = 24, 8, 100, 8, 0.3, 0.25, 0.42

# Each count and the next one show how far a step goes: all steps of the warm-up, then some of the decay and the last
SCHEDULED = 60
COUNTS = [*range(13), 20, 21, 33, 34, 46, 47, 59, 60, 61]


def language(draw):
    """(TOKENS, TOKENS): the probability of each token after each."""
    half = TOKENS // 2
    follows = torch.zeros(TOKENS, TOKENS, dtype=torch.float64)
    for token in range(TOKENS):
        known = follows[token].view(2, half)[token // half]
        known += NOISE / half
        known[draw.permutation(half)[:2]] += (1 - NOISE) / 2
    return follows


def spoken(draw, follows, first, length):
    """A text that begins with the token `first`."""
    cumulated = (follows.cumsum(-1) / follows.sum(-1, keepdim=True)).tolist()
    tokens = [first]
    for throw in draw.uniform(length - 1, dtype=torch.float64).tolist():
        tokens.append(bisect.bisect_right(cumulated[tokens[-1]], throw))
    return torch.tensor(tokens)


def texts(draw, length):
    """A language, a text of it to learn from, (length,), and 50 windows of its continuations, (50, WINDOW). `length` is
    even."""
    assert length % 2 == 0
    follows, half = language(draw), TOKENS // 2
    parts = [spoken(draw, follows, draw.integer(i * half, i * half + half), length // 2 + 25 * WINDOW) for i in (0, 1)]
    read, unread = zip(*(part.split([length // 2, 25 * WINDOW]) for part in parts), strict=True)
    return follows, torch.cat(read), torch.cat(unread).view(-1, WINDOW)


def trained(draw, steps=STEPS, length=2500):
    """A script that trains a table of logits on a text and then shows it text that it has not seen."""
    follows, data, unseen = texts(draw, length)
    table = {"table.weight": torch.zeros(TOKENS, TOKENS)}
    s = Script(model=specimen("Bigram", table, n_tokens=TOKENS, block_size=WINDOW), data=data, unseen=unseen)
    s.call(SUBJECT, s.model, s.data, steps, BATCH, generator(draw.integer(0, 10**6)), PEAK, name="losses")
    s.call(helper("state_of"), s.model, name="after")
    return s, follows


def excess(logits, follows, unseen):
    """By how much the expected loss on what follows `unseen` exceeds that of the true probabilities, in nats: never
    below 0, whatever the logits (..., TOKENS) are."""
    wanted = follows[unseen]
    gain = wanted.clamp(min=1e-30).log() - logits.double().log_softmax(-1)
    return float((wanted * gain).sum(-1).mean())


def learnt(follows, unseen):
    """Judges the weights after training, which are all that counts of the model: its logits are computed here."""

    def judge(seen, exact):
        table = seen.values["after"]["table.weight"]
        if table.shape != (TOKENS, TOKENS):
            return f"the model's table has the shape {tuple(table.shape)} after training"
        over, without = (excess(made[unseen], follows, unseen) for made in (table, torch.zeros_like(table)))
        if not over < MARGIN:
            text = (
                f"on text that it has not seen, the loss of the trained model is {over:.2f} above the best possible; "
                f"right loops stay below {MARGIN}, and without training it is {without:.2f}"
            )
            return tagged(_learnt_instead(table, follows), text)
        return None

    return judge


def _learnt_instead(table, follows):
    """A tag: what a table of logits foretells that does not foretell the next token."""
    before = follows.T / follows.sum(0)[:, None]
    others = {"what comes before": before, "the token itself": torch.eye(TOKENS), "two ahead": follows @ follows}
    over = {name: excess(table, other, torch.arange(TOKENS)) for name, other in others.items()}
    best = min(over, key=over.get)
    return best if over[best] < MARGIN else ""


def left_over(draw):
    """A training whose batches are one window of 4 tokens, and the gradients that it leaves."""
    _, data, _ = texts(draw, 600)
    table = {"table.weight": torch.zeros(TOKENS, TOKENS)}
    s = Script(model=specimen("Bigram", table, n_tokens=TOKENS, block_size=4), data=data)
    s.call(SUBJECT, s.model, s.data, 30, 1, generator(draw.integer(0, 10**6)), PEAK)
    s.call(helper("gradients_of"), s.model, name="gradients")
    made = s.case().holding(of_the_last_batch)
    return made.described("the gradients after training for 30 steps, each with one window of 4 tokens")


def of_the_last_batch(seen, exact):
    """Judges that gradients are those of one batch, or cleared: only its 4 tokens have any."""
    gradient = seen.values["gradients"]["table.weight"]
    rows = 0 if gradient is None else int(gradient.any(-1).sum())
    if rows <= 4:
        return None
    return tagged("not cleared", f"{rows} tokens have a gradient, and the last batch had 4: old gradients are in it")


def on_the_way(draw, peak):
    """A training of SCHEDULED steps broken off after each count of calls, which shows how far each step goes."""
    s = Script(model=specimen("Slope", block_size=3), data=torch.zeros(40, dtype=torch.int64))
    dice = generator(draw.integer(0, 10**6))
    s.call(helper("on_the_way"), COUNTS, student("train"), s.model, s.data, SCHEDULED, 2, dice, peak=peak, name="path")
    return s.case().holding(like_the_schedule(peak)).lasting(20)


def like_the_schedule(peak):
    """Judges the learning rates that a constant gradient shows (see `specimens.Slope`).

    Adam and AdamW go exactly the learning rate along a gradient that stays the same; weight decay of the usual sizes
    and the gradient's own change make less than 4 % of it. A warm-up is any that rises and is about half-way up after a
    twentieth of the steps; steps // 10 or a step more or less of it, and a first rate of 0, move the rest by less than
    0.02 of the peak. Where the momentum changes with the rate, as in OneCycleLR, AdamW goes less far for a while.
    Adam without weight decay passes: it is AdamW without weight decay, which nobody forbids.
    """
    warmup = SCHEDULED / 10

    def judge(seen, exact):
        weights = [state["weight"].amax().item() for state in seen.values["path"]]
        reached = dict(zip(COUNTS, weights, strict=True))
        if reached[SCHEDULED + 1] != reached[SCHEDULED]:
            return f"in {SCHEDULED} steps the weights were changed more often than that"
        rates = {i: (reached[i + 1] - reached[i]) / peak for i in COUNTS[:-2] if i + 1 in reached}
        for i, rate in rates.items():
            told = f"at step {i} of {SCHEDULED} the learning rate is {rate:.2f} of its peak"
            if rate > 1.06:
                return f"step {i} of {SCHEDULED} goes {rate:.2f} times as far as AdamW does at the peak"
            if (i < warmup - 1 and rates[i + 1] < rate - 0.03) or (i == 0 and rate > 0.5):
                return "the learning rate does not warm up over the first tenth of the steps"
            if i == warmup // 2 and not 0.35 < rate < 0.87:
                return f"{told}; half-way through the first tenth it is to be half-way up"
            share = (1 + math.cos(math.pi * (i - warmup) / (SCHEDULED - warmup))) / 2
            if i > warmup + 1 and not -(0.06 if i > 3 * warmup else 0.2) < rate - share < 0.06:
                return f"{told}; by the cosine it is {share:.2f}"
        return "the learning rate does not go down to 0" if rates[SCHEDULED - 1] > 0.03 else None

    return judge


def as_far_as(steps, peak):
    """Judges how far all steps go together: half of what they would at the peak, as warm-up and cosine do."""

    def judge(seen, exact):
        share = seen.values["after"]["weight"].amax().item() / (steps * peak)
        return None if 0.46 < share < 0.53 else f"{steps} steps go {share:.2f} times as far as at the peak, not half"

    return judge


def kept_a_record(steps):
    """The losses: floats, the first of a model without knowledge, the last ones of one that has learnt."""

    def judge(seen, exact):
        losses = seen.values["losses"]
        if not isinstance(losses, (list, tuple)) or len(losses) != steps:
            return f"the result must be a list of {steps} losses"
        if not all(isinstance(loss, (int, float)) and not isinstance(loss, bool) for loss in losses):
            return "the losses must be floats"
        if abs(losses[0] - math.log(TOKENS)) > 0.02:
            return "the first loss must be that of the model before its first step"
        if not sum(losses[-5:]) / 5 < 0.8 * losses[0]:
            return "the losses do not go down"
        return None

    return judge


def along_the_path(steps, batch_size, block_size, crowd, peak):
    """What the losses of a `specimens.Slope` and its weights afterwards tell of a training: the size of its batches,
    which places were trained, and whether each loss is that of its step."""

    def judge(seen, exact):
        moved = seen.values["after"]["weight"]
        if moved.shape != (block_size,) or not moved.min() > 0.9 * moved.max():
            return "not every position of a window is trained"
        path = [-10 * (math.log(math.expm1(loss)) + crowd * batch_size) for loss in seen.values["losses"]]
        if len(path) != steps or abs(path[0]) > 1e-3:
            return "the losses do not begin with that of a batch (batch_size, block_size) before the first step"
        rates = [(b - a) / peak for a, b in itertools.pairwise([*path, moved.mean().item()])]
        # The last loss is that before the last step, which goes about as far as the one before it
        if not abs(rates[-1] - rates[-2]) < 0.2 * max(map(abs, rates)):
            return "the losses are not those of the batches, one for each step"
        return "the call changed data in place" if seen.changed else None

    return judge


def batches_from_the_generator(seen, exact):
    """Twenty batches of 5 of 290 starts are alike by chance with a probability below 1e-240."""
    one, again, other = (torch.as_tensor(seen.values[name], dtype=torch.float64) for name in ("one", "again", "other"))
    if not torch.allclose(one, again, rtol=1e-4):
        return "two runs with equal generators and equal models have different losses"
    if torch.allclose(one, other, rtol=1e-4):
        return "runs with different generators have the same losses"
    if torch.equal(seen.values["before"], seen.values["after"]):
        return "the generator's state is the same after training"
    return None


def like_its_contrary(draw, state):
    """Two trainings of equal models in eval mode, of which one gives contrary logits unless all of it is in training
    mode: in training mode both come out alike. Another text makes another model."""
    seed, s = draw.integer(0, 10**6), Script(text=draw.integers(0, 6, 50), another=draw.integers(0, 6, 50))
    models = {"plain": windowed(state), "contrary": windowed(state, contrary="resting"), "other": windowed(state)}
    for name, model in models.items():
        s.inputs[name] = model
        s.call(SUBJECT, ref(name), s.another if name == "other" else s.text, 20, 3, generator(seed))
        s.call(helper("state_of"), ref(name), name=f"after {name}")

    def judge(seen, exact):
        plain, contrary, other = (seen.values[f"after {name}"] for name in models)
        if any(torch.equal(plain[name], before) for name, before in state.items()):
            return "some of the model's parameters are what they were before training"
        if not all(torch.allclose(plain[name], contrary[name], rtol=1e-4, atol=1e-5) for name in state):
            return "the model, or a part of it, is not trained in training mode in every step"
        if any(torch.equal(plain[name], other[name]) for name in state):
            return "the trained model does not depend on the text"
        return None

    made = s.case(*(ref(f"after {name}") for name in models)).holding(judge)
    return made.described("train on models in eval mode, one of which gives other logits in that mode")


def short(draw, steps):
    """A training so short that a tenth of it is no step at all, or one."""
    zeros = {"table.weight": torch.zeros(9, 9)}
    s = Script(model=specimen("Bigram", zeros, n_tokens=9, block_size=4), data=draw.integers(0, 9, 80))
    s.call(SUBJECT, s.model, s.data, steps, 3, generator(draw.integer(0, 10**6)), name="losses")

    def judge(seen, exact):
        losses = seen.values["losses"]
        if not isinstance(losses, (list, tuple)) or len(losses) != steps:
            return f"the result must be a list of {steps} losses"
        return (
            None if abs(float(losses[0]) - math.log(9)) < 0.02 else "the first loss is not that before the first step"
        )

    return s.case().holding(judge).described(f"train for {steps} step{'s' * (steps > 1)}")
