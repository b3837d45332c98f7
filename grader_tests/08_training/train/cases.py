"""What the cases of `train` are made of, and how some are judged."""

import bisect
import itertools
import math

import torch

from grading.judge.exercise import SUBJECT, Script, generator, specimen

# A language of 24 tokens, each with two usual successors. The two halves of the vocabulary never meet: the first half
# of a text is written in the one, the second in the other, so that all of it has to be read. The excess of a model is
# how much more than the best possible loss it expects to have on text that it has not seen; of one that knows nothing
# it is 1.64. `python -m benchmarks.training_margins` measures it for right loops and for known bugs, over many seeds:
# right ones have 0.1 to 0.22 (0.29 with a weight decay of 0.3, thirty times the usual one), bugs 0.6 and more. MARGIN
# lies between, ten standard deviations above every right loop, so that less than one in a million is beyond it.
TOKENS, WINDOW, STEPS, BATCH, PEAK, NOISE, MARGIN = 24, 8, 100, 8, 0.3, 0.25, 0.42


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
    """A language, a text of it to learn from, (length,), and 50 windows of its continuations, (50, WINDOW)."""
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
    s.call(s.model, s.unseen, name="logits")
    return s, follows


def excess(logits, follows, unseen):
    """By how much the expected loss on what follows `unseen` exceeds that of the true probabilities, in nats."""
    wanted = follows[unseen]
    gain = wanted.clamp(min=1e-30).log() - logits.double().log_softmax(-1)
    return float((wanted * gain).sum(-1).mean())


def learnt(follows, unseen):
    def judge(seen, exact):
        logits = seen.values["logits"]
        over, without = (excess(made, follows, unseen) for made in (logits, torch.zeros_like(logits)))
        if not over < MARGIN:
            return (
                f"on text that it has not seen, the loss of the trained model is {over:.2f} above the best possible; "
                f"right loops stay below {MARGIN}, and without training it is {without:.2f}"
            )
        return None

    return judge


def like_the_schedule(steps, peak):
    """Judges the learning rates that a constant gradient shows (see `specimens.Slope`).

    Adam and AdamW go exactly the learning rate along a gradient that stays the same; weight decay of the usual sizes
    and the gradient's own change make less than 4 % of it. A warm-up is any that rises and is about half-way up after a
    twentieth of the steps; steps // 10 or a step more or less of it, and a first rate of 0, move the rest by less than
    0.02 of the peak. Where the momentum changes with the rate, as in OneCycleLR, AdamW goes less far for a while.
    Adam without weight decay passes: it is AdamW without weight decay, which nobody forbids.
    """
    warmup = steps / 10

    def judge(seen, exact):
        path = [max(weights) for weights in [*seen.values["path"], seen.values["after"]["weight"].tolist()]]
        rates = [(b - a) / peak for a, b in itertools.pairwise(path) if a != b]
        if not steps - 2 <= len(rates) <= steps:
            return f"in {steps} steps the weights were changed {len(rates)} times"
        for i, rate in enumerate(rates):
            if rate > 1.06:
                return (
                    f"step {i} of {steps} goes {rate:.2f} times as far as AdamW does at the peak of the learning rate"
                )
            if (i < warmup - 1 and rates[i + 1] < rate - 0.03) or (i == 0 and rate > 0.5):
                return "the learning rate does not warm up over the first tenth of the steps"
            if i == warmup // 2 and not 0.35 < rate < 0.87:
                return f"half-way through the first tenth of the steps the learning rate is {rate:.2f} of its peak"
            share = (1 + math.cos(math.pi * (i - warmup) / (steps - warmup))) / 2
            if i > warmup + 1 and not -(0.06 if i > 3 * warmup else 0.2) < rate - share < 0.06:
                told = f"at step {i} of {steps} the learning rate is {rate:.2f} of its peak"
                return f"{told}; by the cosine it is {share:.2f}"
        if rates[-1] > 0.03:
            return "the learning rate does not go down to 0"
        return None

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


def along_the_path(steps, batch_size, block_size):
    """What `specimens.Slope` saw of the training: its batches, which places were trained, and the loss at each step."""

    def judge(seen, exact):
        if seen.values["shapes"].count([batch_size, block_size]) < steps:
            return f"the model is not shown a batch ({batch_size}, block_size) in every step"
        moved = seen.values["after"]["weight"]
        if not moved.min() > 0.9 * moved.max():
            return "not every position of a window is trained"
        passed = [sum(math.log1p(math.exp(-w / 10)) for w in weights) / block_size for weights in seen.values["path"]]
        before = iter(passed)  # in order; the model may have been called more often
        if abs(seen.values["losses"][0] - passed[0]) > 1e-5 or not all(
            any(abs(loss - one) < 1e-5 for one in before) for loss in seen.values["losses"]
        ):
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


def trained_whole(steps, state):
    def judge(seen, exact):
        if any(torch.equal(seen.values["after"][name], before) for name, before in state.items()):
            return "some of the model's parameters are what they were before training"
        learning = [training for _, training, flows in seen.values["calls"] if flows]
        if len(learning) < steps or not all(learning):
            return "the model, or a part of it, is not trained in training mode in every step"
        return None

    return judge
