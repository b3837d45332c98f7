"""Right answers to `half_precision_scores`."""

import torch


# %% scaling_the_queries
def half_precision_scores(query, key):
    query = query / query.shape[-1] ** 0.5
    return query @ key.transpose(-2, -1)


# %% scaling_the_keys
def half_precision_scores(query, key):
    return torch.matmul(query, (key * key.shape[-1] ** -0.5).mT)


# %% fourth_roots
def half_precision_scores(query, key):
    root = query.shape[-1] ** 0.25
    return (query / root) @ (key / root).T
