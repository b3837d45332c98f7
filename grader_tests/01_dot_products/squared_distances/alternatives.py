"""Right answers to `squared_distances` in other styles."""

import torch


# %% three_parts
def squared_distances(queries, keys):
    middle = keys.mean(dim=-2, keepdim=True)
    q, k = queries - middle, keys - middle
    of_queries = (q * q).sum(dim=-1, keepdim=True)
    of_keys = (k * k).sum(dim=-1).unsqueeze(-2)
    return (of_queries - 2 * q @ k.transpose(-2, -1) + of_keys).clamp(min=0)


# %% one_dot_product
def squared_distances(queries, keys):
    q, k = queries - keys[..., :1, :], keys - keys[..., :1, :]
    qq, kk = q.square().sum(-1, keepdim=True), k.square().sum(-1, keepdim=True)
    long_q = torch.cat([-2 * q, qq, torch.ones_like(qq)], dim=-1)
    long_k = torch.cat([k, torch.ones_like(kk), kk], dim=-1)
    return torch.relu(long_q @ long_k.mT)


# %% by_einsum
def squared_distances(queries, keys):
    centre = queries.mean(-2, keepdim=True)
    queries, keys = queries - centre, keys - centre
    own = torch.einsum("...tk,...tk->...t", queries, queries)[..., None]
    theirs = torch.einsum("...sk,...sk->...s", keys, keys)[..., None, :]
    both = torch.einsum("...tk,...sk->...ts", queries, keys)
    return torch.maximum(own + theirs - 2 * both, torch.zeros_like(both))
