# a matrix of shares, made by a Kronecker product
import torch


def mean_heads(weight, n_heads, n_groups):
    rows = weight.shape[0]
    if n_heads < 1 or rows % n_heads:
        raise ValueError(f"n_heads: {n_heads} heads in {rows} rows")
    if n_groups < 1 or n_heads % n_groups:
        raise ValueError(f"n_groups: {n_groups} groups of {n_heads} heads")
    like = dict(dtype=weight.dtype, device=weight.device)
    size = n_heads // n_groups
    shares = torch.kron(torch.eye(n_groups, **like), torch.full((1, size), 1 / size, **like))
    return torch.kron(shares, torch.eye(rows // n_heads, **like)) @ weight
