"""Right answers to `share_back`."""

import torch


# %% from_a_diagonal
def share_back(weights, distance):
    return weights.diagonal(-distance).mean()


# %% from_indices
def share_back(weights, distance):
    i = torch.arange(distance, len(weights))
    return weights[i, i - distance].sum() / len(i)
