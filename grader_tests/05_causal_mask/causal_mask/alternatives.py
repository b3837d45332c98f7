"""Right answers to `causal_mask` in other styles."""

import torch
from torch import nn


# %% comparing_places
def causal_mask(T, S=None, device=None):
    S = S if S is not None else T
    if not T <= S:
        raise ValueError(f"expected S >= T, but T={T} and S={S}")
    i, j = torch.arange(T, device=device), torch.arange(S, device=device)
    return (i.unsqueeze(1) + (S - T)).lt(j.unsqueeze(0))


# %% with_two_loops
def causal_mask(T, S=None, device=None):
    if S is None:
        S = T
    elif S < T:
        raise ValueError("S = " + str(S) + " is too small")
    rows = []
    for i in range(T):
        rows.append([j > S - T + i for j in range(S)])
    return torch.tensor(rows, device=device)


# %% last_rows_of_the_square
INF = float("inf")


def causal_mask(T, S=None, device=None):
    S = T if S is None else S
    if T > S:
        raise ValueError(f"T must be at most {S}, not T={T}")
    square = nn.Transformer.generate_square_subsequent_mask(S, device=device)
    return square[S - T :] == -INF


# %% not_the_lower_triangle
def causal_mask(T, S=None, device=None):
    S = T if S is None else S
    if S - T < 0:
        raise ValueError(f"S ({S}) < T ({T})")
    return ~torch.tril(torch.full((T, S), True), diagonal=S - T).to(device)


# %% by_counting_along_rows
def causal_mask(T, S=None, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError(f"S: {S}; T: {T}")
    return torch.eye(S, dtype=torch.int64, device=device)[-T:].cumsum(1).roll(1, 1).tril(S - 1).bool() & (
        torch.arange(S, device=device) > 0
    )


# %% filling_row_by_row
def causal_mask(T, S=None, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError(f"S is {S}, T is {T}")
    mask = torch.zeros((T, S), dtype=torch.bool, device=device)
    for i, row in enumerate(mask):
        row[S - T + i + 1 :] = True
    return mask
