"""Right answers to `twice` in other styles."""

import torch


# %% by_adding
def twice(x):
    return x + x


# %% by_name
def twice(x):
    return torch.mul(x, 2)


# %% in_place_on_a_copy
def twice(x):
    y = x.clone()
    y += x
    return y


# %% by_stacking uses everything
def twice(x):
    return torch.stack([x, x]).sum(dim=0)


# %% by_dividing
def twice(x):
    return x / 0.5
