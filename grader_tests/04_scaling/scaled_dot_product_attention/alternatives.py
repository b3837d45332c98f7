"""Right answers to `scaled_dot_product_attention` in other styles."""

import math

import torch
import torch.nn.functional as F
from torch import nn


# %% scaling_the_queries uses ends
def scaled_dot_product_attention(query, key, value, scale=None):
    if scale is None:
        scale = torch.rsqrt(torch.tensor(float(query.size(-1))))
    weights = F.softmax(torch.matmul(query * scale, key.mT), dim=-1)
    return torch.matmul(weights, value), weights


# %% fourth_roots
def scaled_dot_product_attention(query, key, value, scale=None):
    if scale is None:
        root = query.shape[-1] ** 0.25
        query, key = query / root, key / root
    else:
        key = scale * key
    scores = torch.einsum("...qc,...kc->...qk", query, key)
    weights = torch.exp(scores - torch.logsumexp(scores, -1, keepdim=True))
    return torch.einsum("...qk,...kc->...qc", weights, value), weights


# %% one_query_at_a_time
def scaled_dot_product_attention(query, key, value, scale=None):
    lead, width = query.shape[:-2], query.shape[-1]
    factor = width**-0.5 if scale is None else scale
    outputs, rows = [], []
    flat = (x.reshape(-1, *x.shape[-2:]) for x in (query, key, value))
    for queries, keys, values in zip(*flat, strict=True):
        for q in queries:
            w = torch.stack([(q * k).sum() * factor for k in keys]).softmax(0)
            rows.append(w)
            outputs.append(sum(weight * v for weight, v in zip(w, values, strict=True)))
    sizes = (*lead, query.shape[-2], -1)
    return torch.stack(outputs).reshape(sizes), torch.stack(rows).reshape(sizes)


# %% batched_with_alpha
def scaled_dot_product_attention(query, key, value, scale=None):
    q, k, v = (x.reshape(-1, *x.shape[-2:]) for x in (query, key, value))
    nothing = q.new_zeros(())
    alpha = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    weights = nn.Softmax(2)(torch.baddbmm(nothing, q, k.transpose(1, 2), beta=0, alpha=alpha))
    unflat = query.shape[:-1]
    return torch.bmm(weights, v).reshape(*unflat, -1), weights.reshape(*unflat, -1)


# %% mapped_over_everything
def scaled_dot_product_attention(query, key, value, scale=None):
    def single(q, keys, values):
        scores = keys.mv(q) * scale if scale is not None else keys.mv(q).div(len(q) ** 0.5)
        weights = scores.softmax(0)
        return weights @ values, weights

    attend = torch.vmap(single, in_dims=(0, None, None))
    for _ in range(query.ndim - 2):
        attend = torch.vmap(attend)
    return attend(query, key, value)


# %% callable_object
class Attend:
    """A callable object; softmax by hand, in place on tensors of its own."""

    __name__ = "callable_object"

    def __call__(self, query, key, value, scale=None):
        scores = (query[..., :, None, :] * key[..., None, :, :]).sum(dim=-1)
        scores *= pow(query.shape[-1], -0.5) if scale is None else scale
        exponentials = (scores - scores.amax(-1, True)).exp_()
        weights = exponentials / exponentials.sum(-1, True)
        return (weights[..., None] * value[..., None, :, :]).sum(-2), weights


scaled_dot_product_attention = Attend()


# %% attention_of_scaled_queries
def attention(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1), dim=-1)
    return weights @ value, weights


def scaled_dot_product_attention(query, key, value, scale=None):
    if scale is None:
        scale = 1 / math.sqrt(query.shape[-1])
    return attention(scale * query, key, value)
