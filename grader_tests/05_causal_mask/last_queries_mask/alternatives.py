"""Right answers to `last_queries_mask` in other styles."""

import torch
from torch import nn


# %% comparing_places
def last_queries_mask(T, S):
    i, j = torch.arange(T), torch.arange(S)
    return (i.unsqueeze(1) + (S - T)).lt(j.unsqueeze(0))


# %% with_two_loops
def last_queries_mask(T, S):
    rows = []
    for i in range(T):
        rows.append([j > S - T + i for j in range(S)])
    return torch.tensor(rows)


# %% last_rows_of_the_square
INF = float("inf")


def last_queries_mask(T, S):
    square = nn.Transformer.generate_square_subsequent_mask(S)
    return square[S - T :] == -INF


# %% not_the_lower_triangle
def last_queries_mask(T, S):
    return ~torch.tril(torch.full((T, S), True), diagonal=S - T)


# %% filling_row_by_row
def last_queries_mask(T, S):
    mask = torch.zeros((T, S), dtype=torch.bool)
    for i, row in enumerate(mask):
        row[S - T + i + 1 :] = True
    return mask
