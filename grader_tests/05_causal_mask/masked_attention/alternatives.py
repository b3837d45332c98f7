"""Right answers to `masked_attention` in other styles."""

import math

import torch
from torch import nn

# %% with_einsum
INF = float("inf")


def masked_attention(query, key, value, mask=None):
    scores = torch.einsum("...ik,...jk->...ij", query, key) * query.size(-1) ** -0.5
    if mask is None:
        mask = torch.zeros_like(scores, dtype=torch.bool)
    weights = scores.masked_fill(mask, -INF).softmax(-1).masked_fill(mask, 0)
    return torch.einsum("...ij,...jv->...iv", weights, value), weights


# %% query_by_query
def masked_attention(query, key, value, mask=None):
    T, S = query.shape[-2], key.shape[-2]
    if mask is None:
        mask = query.new_zeros(1, dtype=torch.bool)
    mask = mask.expand(*query.shape[:-2], T, S)
    outputs, shares = [], []
    for i in range(T):
        scores = (key @ query[..., i, :, None]).squeeze(-1) / math.sqrt(query.shape[-1])
        blocked = mask[..., i, :]
        scores = scores.masked_fill(blocked, torch.finfo(scores.dtype).min)
        parts = (scores - scores.amax(-1, keepdim=True)).exp() * ~blocked
        share = parts / parts.sum(-1, keepdim=True).clamp_min(0.1)
        shares.append(share)
        outputs.append((share[..., None] * value).sum(-2))
    return torch.stack(outputs, -2), torch.stack(shares, -2)


# %% flattened_to_one_batch
INF = float("inf")


def masked_attention(query, key, value, mask=None):
    leading = query.shape[:-2]
    q, k, v = (x.reshape(-1, *x.shape[-2:]) for x in (query, key, value))
    scores = torch.bmm(q * k.shape[-1] ** -0.5, k.transpose(1, 2)).reshape(*leading, q.shape[1], k.shape[1])
    if mask is not None:
        nothing = mask.all(-1, keepdim=True)
        scores = torch.where(mask & ~nothing, -INF, scores)
    weights = torch.softmax(scores, dim=-1)
    if mask is not None:
        weights = torch.where(mask, torch.zeros_like(weights), weights)
    outputs = torch.bmm(weights.reshape(-1, q.shape[1], k.shape[1]), v)
    return outputs.reshape(*leading, q.shape[1], v.shape[2]), weights


# %% AsACallableClass
INF = float("inf")


class masked_attention:
    def __new__(cls, query, key, value, mask=None):
        self = super().__new__(cls)
        self.temperature = key.shape[-1] ** 0.5
        return self.attend(query, key, value, mask)

    def attend(self, query, key, value, mask):
        weights = self.weigh((query / self.temperature).matmul(key.transpose(-1, -2)), mask)
        return weights.matmul(value), weights

    def weigh(self, scores, mask):
        if mask is None:
            return nn.Softmax(dim=-1)(scores)
        return nn.Softmax(dim=-1)(scores.masked_fill(mask, -INF)).nan_to_num()


# %% with_a_mask_to_add
INF = float("inf")


def masked_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.size(-1))
    gate = torch.ones_like(scores)
    if mask is not None:
        gate = gate.masked_fill(mask.all(-1, keepdim=True), 0.0)
        mask = mask & (gate > 0)
        scores = scores + torch.zeros_like(scores).masked_fill(mask, -INF)
    weights = torch.softmax(scores, dim=-1) * gate
    return weights @ value, weights
