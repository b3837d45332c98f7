"""Right answers to `soft_cap` in other styles."""

import math

import torch


# %% filling_minus_infinity_back_in
def soft_cap(scores, cap):
    if cap <= 0:
        raise ValueError(f"cap must be positive, but it is {cap}")
    return (cap * torch.tanh(scores / cap)).masked_fill(scores.isneginf(), float("-inf"))


# %% where_with_a_number
def soft_cap(scores, cap):
    if not cap > 0:
        raise ValueError(f"expected cap > 0, got cap = {cap}")
    blocked = torch.isinf(scores) & (scores < 0)
    return torch.where(blocked, -math.inf, (scores / cap).tanh() * cap)


# %% by_the_sigmoid
def soft_cap(scores, cap):
    if cap <= 0:
        raise ValueError(f"cap={cap} is not positive")
    blocked = scores == float("-inf")
    s = scores.masked_fill(blocked, 0.0).double() / cap
    capped = (2 * torch.sigmoid(2 * s) - 1) * cap
    return capped.to(scores.dtype).masked_fill(blocked, float("-inf"))


# %% written_into_a_copy
def soft_cap(scores, cap):
    if not (cap > 0):
        raise ValueError("cap: " + str(cap))
    capped = torch.tanh(scores.div(cap)).mul(cap)
    capped[scores.isneginf()] = -torch.inf
    return capped


# %% adding_minus_infinity
def soft_cap(scores, cap):
    if cap <= 0.0:
        raise ValueError(f"the argument cap is {cap}")
    blocked = torch.zeros_like(scores).masked_fill(scores.isneginf(), -torch.inf)
    return cap * torch.tanh(scores / cap) + blocked.detach()


# %% only_what_is_open
def soft_cap(scores, cap):
    if cap <= 0:
        raise ValueError(f"a cap of {cap}")
    seen = scores > -torch.inf
    capped = torch.full_like(scores, -torch.inf)
    return capped.masked_scatter(seen, torch.tanh(scores[seen] / cap) * cap)
