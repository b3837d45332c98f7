"""Right answers to `to_half_split` in other styles."""

import torch


# %% exchanging_two_dimensions
def to_half_split(x):
    return x.unflatten(-1, (-1, 2)).transpose(-1, -2).flatten(-2)


# %% by_an_order
def to_half_split(x):
    order = sorted(range(x.shape[-1]), key=lambda i: (i % 2, i))
    return x[..., order]


# %% with_a_permutation_matrix_
def to_half_split(x):
    dim = x.shape[-1]
    P = torch.eye(dim, dtype=x.dtype, device=x.device)
    return x @ P[torch.arange(dim).reshape(-1, 2).T.reshape(-1)].T


# %% by_unbinding
def to_half_split(x):
    return torch.cat(x.reshape(*x.shape[:-1], -1, 2).unbind(dim=-1), dim=-1)


# %% by_gathering
def to_half_split(x):
    half = x.shape[-1] // 2
    index = torch.tensor([2 * (i % half) + i // half for i in range(2 * half)], device=x.device)
    return torch.gather(x, -1, index.expand_as(x))


# %% written_into_zeros
def to_half_split(x):
    result = torch.zeros_like(x)
    middle = x.size(-1) // 2
    for i in range(middle):
        result[..., i], result[..., middle + i] = x[..., 2 * i], x[..., 2 * i + 1]
    return result


# %% by_movedim_and_hstack
def to_half_split(x):
    y = x.movedim(-1, 0)
    return (
        torch.vstack([y[i : i + 1] for i in (*range(0, len(y), 2), *range(1, len(y), 2))]).movedim(0, -1)
        if x.ndim > 1
        else torch.hstack([x[::2], x[1::2]])
    )
