"""Properties of a whole training: what was learnt, how far each step went, what was recorded."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import torch

from ..harness.program import Observation
from .chance import tagged
from .registry import Problem, checker


def excess(logits: torch.Tensor, follows: torch.Tensor, unseen: torch.Tensor) -> float:
    """By how much the expected loss on what follows `unseen` exceeds that of the true probabilities, in nats: never
    below 0, whatever the logits (..., N) are.

    follows  (N, N): the probability of each token after each
    """
    wanted = follows[unseen]
    gain = wanted.clamp(min=1e-30).log() - logits.double().log_softmax(-1)
    return float((wanted * gain).sum(-1).mean())


@checker
def has_learned(seen: Observation, follows: torch.Tensor, unseen: torch.Tensor, margin: float) -> Problem:
    """The weights after training, which are all that counts of the model: its logits are computed here."""
    table = seen.values["after"]["table.weight"]
    if table.shape != follows.shape:
        return f"the model's table has the shape {tuple(table.shape)} after training"
    over, without = (excess(made[unseen], follows, unseen) for made in (table, torch.zeros_like(table)))
    if not over < margin:
        text = (
            f"on text that it has not seen, the loss of the trained model is {over:.2f} above the best possible; "
            f"right loops stay below {margin}, and without training it is {without:.2f}"
        )
        return tagged(_learnt_instead(table, follows, margin), text)
    return None


def _learnt_instead(table: torch.Tensor, follows: torch.Tensor, margin: float) -> str:
    """A tag: what a table of logits predicts that does not predict the next token."""
    before = follows.T / follows.sum(0)[:, None]
    others = {"what comes before": before, "the token itself": torch.eye(len(table)), "two ahead": follows @ follows}
    over = {name: excess(table, other, torch.arange(len(table))) for name, other in others.items()}
    best = min(over, key=lambda name: over[name])
    return best if over[best] < margin else ""


@checker
def gradients_from_last_batch(seen: Observation, tokens: int) -> Problem:
    """Gradients are those of one batch, or cleared: only its `tokens` have any."""
    gradient = seen.values["gradients"]["table.weight"]
    rows = 0 if gradient is None else int(gradient.any(-1).sum())
    if rows <= tokens:
        return None
    text = f"{rows} tokens have a gradient, and the last batch had {tokens}: old gradients are in it"
    return tagged("not cleared", text)


@checker
def follows_schedule(
    seen: Observation, counts: Sequence[int], steps: int, peak: float, decay: Sequence[float]
) -> Problem:
    """The learning rates that a constant gradient shows (see `sample_models.Slope`) in a training that was broken off
    after each of `counts` calls.

    decay  the share of the peak that each step after the warm-up is to have, by its number from 0 on

    Adam and AdamW go exactly the learning rate along a gradient that stays the same; weight decay of the usual sizes
    and the gradient's own change make less than 4 % of it. A warm-up is any that rises and is about half-way up after a
    twentieth of the steps; steps // 10 or a step more or less of it, and a first rate of 0, move the rest by less than
    0.02 of the peak. Where the momentum changes with the rate, as in OneCycleLR, AdamW goes less far for a while.
    Adam without weight decay passes: it is AdamW without weight decay, which nobody forbids.
    """
    warmup = steps / 10
    weights = [state["weight"].amax().item() for state in seen.values["path"]]
    reached = dict(zip(counts, weights, strict=True))
    if reached[steps + 1] != reached[steps]:
        return f"in {steps} steps the weights were changed more often than that"
    rates = {i: (reached[i + 1] - reached[i]) / peak for i in counts[:-2] if i + 1 in reached}
    for i, rate in rates.items():
        told = f"at step {i} of {steps} the learning rate is {rate:.2f} of its peak"
        if rate > 1.06:
            return f"step {i} of {steps} goes {rate:.2f} times as far as AdamW does at the peak"
        if (i < warmup - 1 and rates[i + 1] < rate - 0.03) or (i == 0 and rate > 0.5):
            return "the learning rate does not warm up over the first tenth of the steps"
        if i == warmup // 2 and not 0.35 < rate < 0.87:
            return f"{told}; half-way through the first tenth it is to be half-way up"
        if i > warmup + 1 and not -(0.06 if i > 3 * warmup else 0.2) < rate - decay[i] < 0.06:
            return f"{told}; by the cosine it is {decay[i]:.2f}"
    return "the learning rate does not go down to 0" if rates[steps - 1] > 0.03 else None


@checker
def half_step_size(seen: Observation, steps: int, peak: float) -> Problem:
    """How far all steps go together: half of what they would at the peak, as warm-up and cosine do."""
    share = seen.values["after"]["weight"].amax().item() / (steps * peak)
    return None if 0.46 < share < 0.53 else f"{steps} steps go {share:.2f} times as far as at the peak, not half"


@checker
def returns_losses(seen: Observation, steps: int, tokens: int) -> Problem:
    """The losses: floats, the first of a model without knowledge, the last ones of one that has learnt."""
    losses = seen.values["losses"]
    if not isinstance(losses, (list, tuple)) or len(losses) != steps:
        return tagged(_record_instead(losses, steps), f"the result must be a list of {steps} losses")
    if not all(isinstance(loss, (int, float)) and not isinstance(loss, bool) for loss in losses):
        tensors = all(isinstance(loss, torch.Tensor) for loss in losses)
        return tagged("losses are tensors" if tensors else "", "the losses must be floats")
    if abs(losses[0] - math.log(tokens)) > 0.02:
        return "the first loss must be that of the model before its first step"
    if not sum(losses[-5:]) / 5 < 0.8 * losses[0]:
        return "the losses do not go down"
    return None


def _record_instead(losses: object, steps: int) -> str:
    """A tag: what came out that is no list of so many losses."""
    if losses is None:
        return "nothing is returned"
    if isinstance(losses, torch.Tensor):
        return "one tensor" if losses.shape == (steps,) else ""
    if isinstance(losses, (list, tuple)):
        return {-1: "a step too few", 1: "a step more"}.get(len(losses) - steps, "")
    return "the last loss" if isinstance(losses, float) else ""


@checker
def loss_before_first_step(seen: Observation, steps: int, tokens: int) -> Problem:
    """So many losses, the first of a model without knowledge."""
    losses = seen.values["losses"]
    if not isinstance(losses, (list, tuple)) or len(losses) != steps:
        return f"the result must be a list of {steps} losses"
    right = abs(float(losses[0]) - math.log(tokens)) < 0.02
    return None if right else "the first loss is not that before the first step"


@checker
def losses_match_steps(
    seen: Observation, steps: int, batch_size: int, block_size: int, crowd: float, peak: float
) -> Problem:
    """What the losses of a `sample_models.Slope` and its weights afterwards tell of a training: the size of its
    batches, which places were trained, and whether each loss is that of its step."""
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


@checker
def losses_follow_generator(seen: Observation) -> Problem:
    """Twenty batches of 5 of 290 starts are alike by chance with a probability below 1e-240."""
    one, again, other = (torch.as_tensor(seen.values[name], dtype=torch.float64) for name in ("one", "again", "other"))
    if not torch.allclose(one, again, rtol=1e-4):
        return tagged("not of the generator", "two runs with equal generators and equal models have different losses")
    if torch.allclose(one, other, rtol=1e-4):
        return "runs with different generators have the same losses"
    if torch.equal(seen.values["before"], seen.values["after"]):
        return "the generator's state is the same after training"
    return None


@checker
def trains_in_training_mode(seen: Observation, state: Mapping[str, torch.Tensor]) -> Problem:
    """Training moves a model and one that gives contrary logits in eval mode alike, and another text makes another."""
    plain, contrary, other = (seen.values[f"after {name}"] for name in ("plain", "contrary", "other"))
    if any(torch.equal(plain[name], before) for name, before in state.items()):
        some = any(not torch.equal(plain[name], before) for name, before in state.items())
        text = "some of the model's parameters are what they were before training"
        return tagged("a part is trained" if some else "", text)
    if not all(torch.allclose(plain[name], contrary[name], rtol=1e-4, atol=1e-5) for name in state):
        text = "the model, or a part of it, is not trained in training mode in every step"
        return tagged("not in training mode", text)
    if any(torch.equal(plain[name], other[name]) for name in state):
        return "the trained model does not depend on the text"
    return None


@checker
def samples_whole_text(seen: Observation, length: int, few: int) -> Problem:
    """Which places of a text whose tokens are its places were shown to a table of logits: those rows have changed.

    Of 800 windows none begins in one of eight parts of the text with a probability of 8 * (7 / 8) ** 800, below 1e-45.
    few  as many places as a handful of batches show at most
    """
    shown = seen.values["after"]["table.weight"].any(-1).nonzero()[:, 0]
    parts = {int(8 * place // length) for place in shown.tolist()}
    if len(parts) == 8 and len(shown) > few:
        return None
    if parts == {0}:
        tag = "the first corner"
    elif parts == {0, 1, 2, 3}:
        tag = "half of the text"
    else:
        tag = "one batch" if len(shown) <= few // 3 else "a few batches" if len(shown) <= few else ""
    return tagged(tag, f"of {length} places of the text, {len(shown)} were ever shown to the model")
