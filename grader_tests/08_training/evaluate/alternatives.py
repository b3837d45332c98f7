"""Right answers to `evaluate` in other styles."""

import math

import torch
import torch.nn.functional as F
from torch import nn


# %% evaluate_decorated
@torch.no_grad()
def evaluate(model, inputs, targets):
    was_training = model.training
    model.eval()
    logits = model(inputs)
    loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1))
    model.train(was_training)
    return loss.item()


# %% evaluate_with_a_guard
def evaluate(model, inputs, targets):
    modes = {name: part.training for name, part in model.named_modules()}
    try:
        model.eval()
        with torch.inference_mode():
            logp = torch.log_softmax(model(inputs), dim=-1)
            return -float(logp.gather(2, targets.unsqueeze(2)).mean())
    finally:
        for name, part in model.named_modules():
            part.training = modes[name]


# %% evaluate_sentence_by_sentence
def evaluate(model, inputs, targets):
    mode = "train" if model.training else "eval"
    model.train(False)
    with torch.set_grad_enabled(False):
        losses = [nn.CrossEntropyLoss()(model(x[None])[0], y) for x, y in zip(inputs, targets, strict=True)]
    getattr(model, mode)()
    return sum(losses).item() / len(losses)


# %% evaluate_in_a_context
def evaluate(model, inputs, targets):
    import contextlib

    @contextlib.contextmanager
    def at_rest(module):
        active = [m for m in module.modules() if m.training]
        module.eval()
        yield module
        for m in active:
            m.training = True

    with torch.no_grad(), at_rest(model) as quiet:
        total = F.cross_entropy(quiet(inputs).movedim(-1, 1), targets, reduction="sum")
    return total.item() / targets.numel()


# %% evaluate_with_frozen_parameters
def evaluate(model, inputs, targets):
    """No gradient where nothing asks for one; position by position."""
    was, asked = model.training, {p: p.requires_grad for p in model.parameters()}
    model.eval()
    for p in asked:
        p.requires_grad_(False)
    try:
        logp = F.log_softmax(model(inputs), dim=-1)
        places = [(b, t) for b in range(len(inputs)) for t in range(inputs.shape[1])]
        return math.fsum(-logp[b, t, targets[b, t]].item() for b, t in places) / len(places)
    finally:
        for p, before in asked.items():
            p.requires_grad_(before)
        if was:
            model.train()


# %% evaluate_a_copy
def evaluate(model, inputs, targets):
    import copy

    twin = copy.deepcopy(model).eval().requires_grad_(False)
    logits = twin(inputs)
    surprise = logits.logsumexp(-1) - logits.gather(-1, targets[..., None])[..., 0]
    return surprise.mean().item()
