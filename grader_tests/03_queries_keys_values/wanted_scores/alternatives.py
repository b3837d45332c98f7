"""Right answers to `wanted_scores` in several styles."""

import torch
import torch.nn.functional as F


# %% zeros_and_an_index
def wanted_scores(keys, targets, high):
    scores = keys.new_zeros(len(keys))
    scores[targets] = high
    return scores


# %% one_by_one
def wanted_scores(keys, targets, high):
    return torch.tensor([high if i in targets else 0.0 for i in range(len(keys))], dtype=keys.dtype)


# %% by_one_hot
def wanted_scores(keys, targets, high):
    return high * F.one_hot(torch.tensor(targets), len(keys)).sum(dim=0).to(keys.dtype)
