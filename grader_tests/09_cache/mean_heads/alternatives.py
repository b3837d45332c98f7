"""Right answers to `mean_heads` in other styles."""

import torch


# %% by_unflatten
def mean_heads(weight, n_heads, n_groups):
    if n_heads < 1 or weight.shape[0] % n_heads:
        raise ValueError(f"n_heads = {n_heads} does not divide the {weight.shape[0]} rows of weight")
    if n_groups < 1 or n_heads % n_groups:
        raise ValueError(f"n_groups = {n_groups} does not divide n_heads = {n_heads}")
    return weight.unflatten(0, (n_groups, n_heads // n_groups, -1)).mean(1).flatten(0, 1)


# %% group_by_group
def mean_heads(weight, n_heads, n_groups):
    rows = weight.shape[0]
    if n_heads <= 0 or rows % n_heads != 0:
        raise ValueError(f"{n_heads=} but weight has {rows} rows")
    if n_groups <= 0 or n_heads % n_groups != 0:
        raise ValueError(f"{n_groups=} and {n_heads=} do not go together")
    heads = weight.chunk(n_heads)
    size = n_heads // n_groups
    return torch.cat([torch.stack(heads[g * size : (g + 1) * size]).mean(0) for g in range(n_groups)])


# %% by_a_matrix_of_means
def mean_heads(weight, n_heads, n_groups):
    if n_heads < 1 or len(weight) % n_heads:
        raise ValueError("n_heads: %s" % n_heads)
    if n_groups < 1 or n_heads % n_groups:
        raise ValueError("n_groups: %s" % n_groups)
    K, size = len(weight) // n_heads, n_heads // n_groups
    groups = torch.eye(n_groups, dtype=weight.dtype, device=weight.device).repeat_interleave(size, 1) / size
    return torch.einsum("gh,hkd->gkd", groups, weight.reshape(n_heads, K, -1)).reshape(n_groups * K, -1)
