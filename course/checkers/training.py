"""Checkers of training: what was learned, sizes of steps, recorded losses."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import torch

from ..harness.program import Observation
from .chance import tagged
from .registry import Problem, checker


def excess(logits: torch.Tensor, follows: torch.Tensor, unseen: torch.Tensor) -> float:
    """Expected loss on the tokens after `unseen`, minus the least possible, in nats.

    logits   (..., N); the result is never below 0
    follows  (N, N): the true probability of each token after each
    """
    wanted = follows[unseen]
    gain = wanted.clamp(min=1e-30).log() - logits.double().log_softmax(-1)
    return float((wanted * gain).sum(-1).mean())


@checker
def has_learned(seen: Observation, follows: torch.Tensor, unseen: torch.Tensor, margin: float) -> Problem:
    """On unseen text, the trained model's loss is within `margin` of the least one.
    Only its weights count: its logits are computed here."""
    table = seen.values["after"]["table.weight"]
    if table.shape != follows.shape:
        return f"after training, the model's table has shape {tuple(table.shape)}"
    over, without = (excess(made[unseen], follows, unseen) for made in (table, torch.zeros_like(table)))
    if not over < margin:
        text = (
            f"on unseen text, the loss of the trained model is {over:.2f} above the best possible; expected less than "
            f"{margin} (without training: {without:.2f})"
        )
        return tagged(_learnt_instead(table, follows, margin), text)
    return None


def _learnt_instead(table: torch.Tensor, follows: torch.Tensor, margin: float) -> str:
    """A tag for what a table of logits predicts instead of the next token."""
    before = follows.T / follows.sum(0)[:, None]
    others = {"what comes before": before, "the token itself": torch.eye(len(table)), "two ahead": follows @ follows}
    over = {name: excess(table, other, torch.arange(len(table))) for name, other in others.items()}
    best = min(over, key=lambda name: over[name])
    return best if over[best] < margin else ""


@checker
def gradients_from_last_batch(seen: Observation, tokens: int) -> Problem:
    """Gradients are those of the last batch, or cleared: only its `tokens` have any."""
    gradient = seen.values["gradients"]["table.weight"]
    rows = 0 if gradient is None else int(gradient.any(-1).sum())
    if rows <= tokens:
        return None
    text = f"{rows} tokens have a gradient, but the last batch had only {tokens}: old gradients were not cleared"
    return tagged("not cleared", text)


@checker
def follows_schedule(
    seen: Observation, counts: Sequence[int], steps: int, peak: float, decay: Sequence[float]
) -> Problem:
    """The learning rate follows the schedule: it warms up, then decays.
    A constant gradient shows it (see `sample_models.Slope`), in training that stops after each of `counts` calls.

    decay  the learning rate after the warm-up, as a share of the peak, by the number of the step from 0

    With a constant gradient, each step of Adam and AdamW is exactly the learning rate; usual weight decay and changes
    of the gradient make less than 4 % of it. A warm-up is any that rises and is about half-way up after a twentieth of
    the steps; its length, steps // 10 or one more or less, and a first rate of 0 move the rest by less than 0.02 of the
    peak. If the momentum changes with the rate, as in OneCycleLR, AdamW's steps are shorter for a while. Adam passes:
    it is AdamW without weight decay, which is allowed.
    """
    warmup = steps / 10
    weights = [state["weight"].amax().item() for state in seen.values["path"]]
    reached = dict(zip(counts, weights, strict=True))
    if reached[steps + 1] != reached[steps]:
        return f"the weights were changed more often than in {steps} steps"
    rates = {i: (reached[i + 1] - reached[i]) / peak for i in counts[:-2] if i + 1 in reached}
    if max(rates.values()) - min(rates.values()) < 0.02:
        return "the learning rate is the same in every step"
    for i, rate in rates.items():
        told = f"at step {i} of {steps} the learning rate is {rate:.2f} of its peak"
        if rate > 1.06:
            return f"step {i} of {steps} goes {rate:.2f} times as far as AdamW does at the peak"
        if (i < warmup - 1 and rates[i + 1] < rate - 0.03) or (i == 0 and rate > 0.5):
            return "the learning rate does not warm up over the first tenth of the steps"
        if i == warmup // 2 and not 0.35 < rate < 0.87:
            return f"{told}; halfway through the first tenth it should be about half"
        if i > warmup + 1 and not -(0.06 if i > 3 * warmup else 0.2) < rate - decay[i] < 0.06:
            return f"{told}; the cosine gives {decay[i]:.2f}"
    return "the learning rate does not decay to 0" if rates[steps - 1] > 0.03 else None


@checker
def half_step_size(seen: Observation, steps: int, peak: float) -> Problem:
    """The steps add up to half the distance of steps at the peak, as warm-up and cosine do."""
    share = seen.values["after"]["weight"].amax().item() / (steps * peak)
    if 0.46 < share < 0.53:
        return None
    return f"over {steps} steps the learning rate is {share:.2f} of its peak on average; the schedule gives about half"


@checker
def returns_losses(seen: Observation, steps: int, tokens: int) -> Problem:
    """The losses are floats that begin at an untrained model's loss and go down."""
    losses = seen.values["losses"]
    if not isinstance(losses, (list, tuple)) or len(losses) != steps:
        return tagged(_record_instead(losses, steps), f"expected a list of {steps} losses")
    if not all(isinstance(loss, (int, float)) and not isinstance(loss, bool) for loss in losses):
        tensors = all(isinstance(loss, torch.Tensor) for loss in losses)
        return tagged("losses are tensors" if tensors else "", "the losses must be floats")
    if abs(losses[0] - math.log(tokens)) > 0.02:
        return "the first loss is not that of the model before its first step"
    if not sum(losses[-5:]) / 5 < 0.8 * losses[0]:
        return "the losses do not go down"
    return None


def _record_instead(losses: object, steps: int) -> str:
    """A tag for what was returned instead of a list of `steps` losses."""
    if losses is None:
        return "nothing is returned"
    if isinstance(losses, torch.Tensor):
        return "one tensor" if losses.shape == (steps,) else ""
    if isinstance(losses, (list, tuple)):
        return {-1: "a step too few", 1: "a step more"}.get(len(losses) - steps, "")
    return "the last loss" if isinstance(losses, float) else ""


@checker
def loss_before_first_step(seen: Observation, steps: int, tokens: int) -> Problem:
    """There are `steps` losses, the first that of an untrained model."""
    losses = seen.values["losses"]
    if not isinstance(losses, (list, tuple)) or len(losses) != steps:
        return f"expected a list of {steps} losses"
    right = abs(float(losses[0]) - math.log(tokens)) < 0.02
    return None if right else "the first loss is not that of the model before its first step"


@checker
def losses_match_steps(
    seen: Observation, steps: int, batch_size: int, block_size: int, crowd: float, peak: float
) -> Problem:
    """Batch size, trained positions and the loss of each step are right.
    The losses and final weights of a `sample_models.Slope` show this."""
    moved = seen.values["after"]["weight"]
    if moved.shape != (block_size,) or not moved.min() > 0.9 * moved.max():
        return "not every position of a window is trained"
    path = [-10 * (math.log(math.expm1(loss)) + crowd * batch_size) for loss in seen.values["losses"]]
    if len(path) != steps or abs(path[0]) > 1e-3:
        return "the losses do not begin with that of a batch (batch_size, block_size) before the first step"
    rates = [(b - a) / peak for a, b in itertools.pairwise([*path, moved.mean().item()])]
    # The last loss is that before the last step, which goes about as far as the one before it
    if not abs(rates[-1] - rates[-2]) < 0.2 * max(map(abs, rates)):
        return "the losses are not those of the batches, one per step"
    return "the call changed data in place" if seen.changed else None


@checker
def losses_follow_generator(seen: Observation) -> Problem:
    """The generator determines the losses, and its state advances.

    Twenty batches of 5 of 290 starts are alike by chance with a probability below 1e-240.
    """
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
    """All parameters are trained, in training mode, and depend on the text.

    A model that negates its logits in eval mode must move like a plain one.
    """
    plain, contrary, other = (seen.values[f"after {name}"] for name in ("plain", "contrary", "other"))
    if any(torch.equal(plain[name], before) for name, before in state.items()):
        some = any(not torch.equal(plain[name], before) for name, before in state.items())
        text = "training leaves some of the model's parameters unchanged"
        return tagged("a part is trained" if some else "", text)
    if not all(torch.allclose(plain[name], contrary[name], rtol=1e-4, atol=1e-5) for name in state):
        text = "the model, or a part of it, is not in training mode in every step"
        return tagged("not in training mode", text)
    if any(torch.equal(plain[name], other[name]) for name in state):
        return "the trained model does not depend on the text"
    return None


@checker
def samples_whole_text(seen: Observation, length: int, few: int) -> Problem:
    """Batches come from the whole text.
    Its tokens are its positions, so changed rows in a table of logits are positions that were shown.

    few  number of positions that a handful of batches show at most

    Of 800 windows none begins in one of eight parts of the text with a probability of 8 * (7 / 8) ** 800, below 1e-45.
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
    return tagged(tag, f"training used only {len(shown)} of the {length} positions of the text")
