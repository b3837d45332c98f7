"""Right answers to `entropy` in other styles."""

import math

import torch


# %% by_a_loop_over_the_weights
def entropy(p, dim=-1):
    total = 0
    for weight in p.unbind(dim):
        some = weight > 0
        total = total - torch.where(some, weight * torch.where(some, weight, 1).log(), 0)
    return total


# %% by_entr_of_what_is_above_0
def entropy(p, dim=-1):
    return torch.where(p > 0, torch.special.entr(torch.where(p > 0, p, 1.0)), 0.0).sum(dim=dim)


# %% by_xlogy_of_what_is_above_0
def entropy(p, dim=-1):
    return -torch.xlogy(p, p.masked_fill(p == 0, 1.0)).sum(dim)


# %% by_einsum
def entropy(p, dim=-1):
    flat = p.movedim(dim, -1)
    surprise = flat.masked_fill(flat == 0, 1.0).log().neg()
    return torch.einsum("...n,...n->...", flat, surprise)


# %% in_bits_and_back
def entropy(p, dim=-1):
    tiny = torch.finfo(p.dtype).tiny
    return torch.sum(p * p.clamp(min=tiny).log2(), dim) * -math.log(2)


# %% list_by_list_without_the_zeros
def entropy(p, dim=-1):
    moved = p.movedim(dim, -1)
    found = []
    for row in moved.reshape(-1, moved.shape[-1]):
        some = row[row > 0]
        found.append(-torch.dot(some, some.log()))
    return torch.stack(found).reshape(moved.shape[:-1])


# %% by_xlogy
def entropy(p, dim=-1):
    return -torch.xlogy(p, p).sum(dim)


# %% with_nan_replaced_afterwards
def entropy(p, dim=-1):
    return torch.nan_to_num(-p * p.log(), nan=0.0).sum(dim)
