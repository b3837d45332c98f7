"""Right answers to `qk_norm_scores` in other styles."""

import math

import torch
import torch.nn.functional as F
from torch import nn


# %% a_function_inside
def qk_norm_scores(query, key, gain_q, gain_k):
    def normed(x, gain):
        return x / torch.sqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * gain

    return normed(query, gain_q) @ normed(key, gain_k).transpose(-2, -1) / math.sqrt(query.shape[-1])


# %% scores_divided_afterwards
def qk_norm_scores(query, key, gain_q, gain_k):
    K = query.shape[-1]
    scores = (query * gain_q) @ (key * gain_k).mT
    sizes = [((x * x).sum(-1) / K + 1e-6).sqrt() for x in (query, key)]
    return scores / sizes[0].unsqueeze(-1) / sizes[1].unsqueeze(-2) / K**0.5


# %% by_einsum
def qk_norm_scores(query, key, gain_q, gain_k):
    q = query * torch.rsqrt(torch.mean(query**2, dim=-1, keepdim=True) + 1e-6) * gain_q
    k = key * torch.rsqrt(torch.mean(key**2, dim=-1, keepdim=True) + 1e-6) * gain_k
    return torch.einsum("...ik,...jk->...ij", q, k) * q.shape[-1] ** -0.5


# %% by_a_module
class RMS(nn.Module):
    def forward(self, x, gain):
        return torch.mul(x.mul(x.square().mean(-1, True).add(1e-6).rsqrt()), gain)


def qk_norm_scores(query, key, gain_q, gain_k):
    norm = RMS()
    return torch.matmul(norm(query, gain_q), norm(key, gain_k).transpose(-1, -2)) / math.sqrt(key.size(-1))


# %% by_the_euclidean_norm
def qk_norm_scores(query, key, gain_q, gain_k):
    K = query.shape[-1]
    # A further entry makes the length of the vector the root of the sum with K * 1e-6
    rest = (K * 1e-6) ** 0.5
    q, k = (F.normalize(F.pad(x, (0, 1), value=rest), dim=-1)[..., :-1] for x in (query, key))
    return (q * gain_q * math.sqrt(K)) @ (k * gain_k).mT


# %% vector_by_vector
def qk_norm_scores(query, key, gain_q, gain_k):
    width = query.shape[-1]
    columns = []
    q = (
        gain_q
        * query
        / (torch.var(query, -1, unbiased=False, keepdim=True) + query.mean(-1, keepdim=True) ** 2 + 1e-6) ** 0.5
    )
    for k in key.unbind(-2):
        k = gain_k * k / (k.square().mean(-1, keepdim=True) + 1e-6).sqrt()
        columns.append((q * k[..., None, :]).sum(-1))
    return torch.stack(columns, -1) / width**0.5
