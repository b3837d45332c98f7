"""Right answers to `accuracy_by_position`."""

import torch


# %% by_comparing
def accuracy_by_position(logits, targets):
    right = logits.argmax(dim=-1) == targets
    return right.float().mean(dim=0)


# %% by_counting
def accuracy_by_position(logits, targets):
    hits = torch.stack([(one.argmax(-1) == target).float() for one, target in zip(logits, targets, strict=True)])
    return hits.sum(0) / len(targets)
