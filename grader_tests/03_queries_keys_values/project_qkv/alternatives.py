"""Right answers to `project_qkv` in other styles."""

import torch
import torch.nn.functional as F


# %% three_products
def project_qkv(x, W_q, W_k, W_v):
    query = x @ W_q
    key = x @ W_k
    value = x @ W_v
    return query, key, value


# %% packed_and_split
def project_qkv(x, W_q, W_k, W_v):
    widths = [W_q.shape[1], W_k.shape[1], W_v.shape[1]]
    return (x @ torch.cat((W_q, W_k, W_v), dim=1)).split(widths, dim=-1)


# %% by_tensordot
def project_qkv(x, W_q, W_k, W_v):
    return [torch.tensordot(x, W, dims=1) for W in (W_q, W_k, W_v)]


# %% as_linear_layers
def project_qkv(x, W_q, W_k, W_v):
    return F.linear(x, W_q.T), F.linear(x, W_k.mT), F.linear(x, W_v.t())


# %% by_broadcasting_and_summing
def project_qkv(x, W_q, W_k, W_v):
    def through(W):
        return (x[..., :, None] * W).sum(dim=-2)

    return through(W_q), through(W_k), through(W_v)


# %% row_by_row
def project_qkv(x, W_q, W_k, W_v):
    words = x.reshape(-1, x.shape[-1]).unbind()
    return tuple(torch.stack([word @ W for word in words]).reshape(*x.shape[:-1], -1) for W in (W_q, W_k, W_v))
