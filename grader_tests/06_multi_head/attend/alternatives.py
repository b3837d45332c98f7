"""Right answers to `attend`."""

import math

import torch


# %% in_three_lines
def attend(query, key, value):
    scores = query @ key.mT / query.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights


# %% scaled_query
def attend(query, key, value):
    weights = (query / math.sqrt(key.size(-1)) @ key.transpose(-2, -1)).softmax(-1)
    return torch.matmul(weights, value), weights
