"""Right answers to `causal_mask` in other styles."""

import torch
from torch import nn


# %% by_triu
def causal_mask(T):
    return torch.ones(T, T, dtype=torch.bool).triu(1)


# %% comparing_places
def causal_mask(T):
    i, j = torch.arange(T), torch.arange(T)
    return i.unsqueeze(1).lt(j.unsqueeze(0))


# %% with_two_loops
def causal_mask(T):
    rows = []
    for i in range(T):
        rows.append([j > i for j in range(T)])
    return torch.tensor(rows)


# %% what_is_minus_infinity
INF = float("inf")


def causal_mask(T):
    return nn.Transformer.generate_square_subsequent_mask(T) == -INF


# %% not_the_lower_triangle
def causal_mask(T):
    return ~torch.tril(torch.full((T, T), True))


# %% filling_row_by_row
def causal_mask(T):
    mask = torch.zeros((T, T), dtype=torch.bool)
    for i, row in enumerate(mask):
        row[i + 1 :] = True
    return mask
