"""Right answers to `previous_token_score`."""

import torch


# %% by_diagonal
def previous_token_score(weights):
    return weights.diagonal(-1, dim1=-2, dim2=-1).mean(-1)


# %% by_index
def previous_token_score(weights):
    query = torch.arange(1, weights.shape[-1])
    return weights[..., query, query - 1].mean(-1)
