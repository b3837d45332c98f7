"""Right answers to `attention` in other styles."""

import torch
import torch.nn.functional as F
from torch import nn


# %% three_lines
def attention(query, key, value):
    weights = torch.softmax(query @ key.mT, dim=-1)
    return weights @ value, weights


# %% stable_by_hand
def attention(query, key, value):
    scores = torch.matmul(query, key.transpose(-2, -1))
    e = (scores - scores.max(dim=-1, keepdim=True).values.detach()).exp()
    weights = e / e.sum(dim=-1, keepdim=True)
    return torch.matmul(weights, value), weights


# %% by_einsum
def attention(query, key, value):
    weights = torch.einsum("...ij,...kj->...ik", query, key).log_softmax(-1).exp()
    return torch.einsum("...ik,...kv->...iv", weights, value), weights


# %% by_the_built_in_unscaled
def attention(query, key, value):
    eye = torch.eye(key.shape[-2], dtype=key.dtype, device=key.device).expand(*key.shape[:-1], key.shape[-2])
    both = torch.cat([value, eye], dim=-1)
    found = F.scaled_dot_product_attention(query, key, both, scale=1.0)
    return found[..., : value.shape[-1]], found[..., value.shape[-1] :]


# %% the_built_in_with_its_scale_undone
def attention(query, key, value):
    weights = nn.Softmax(dim=-1)(query @ key.mT)
    return F.scaled_dot_product_attention(query * query.shape[-1] ** 0.5, key, value), weights


# %% one_query_at_a_time
def attention(query, key, value):
    lead = query.shape[:-2]
    queries, keys, values = (t.reshape(-1, *t.shape[-2:]) for t in (query, key, value))
    outputs, rows = [], []
    for q, k, v in zip(queries, keys, values, strict=True):
        for one in q:
            row = torch.softmax(torch.mv(k, one), dim=0)
            rows.append(row)
            outputs.append((row[:, None] * v).sum(dim=0))
    return (
        torch.stack(outputs).reshape(*lead, query.shape[-2], value.shape[-1]),
        torch.stack(rows).reshape(*lead, query.shape[-2], key.shape[-2]),
    )


# %% running_softmax_over_the_keys
def attention(query, key, value):
    """One key after another, with the maximum, the sum and the output so far."""
    top = query.new_full((*query.shape[:-1], 1), -torch.inf)
    total, output, scores = torch.zeros_like(top), 0.0, []
    for s in range(key.shape[-2]):
        score = (query * key[..., s : s + 1, :]).sum(-1, keepdim=True)
        new = torch.maximum(top, score)
        shrink, grown = (top - new).exp(), (score - new).exp()
        total = total * shrink + grown
        output = output * shrink + grown * value[..., s : s + 1, :]
        top = new
        scores.append(score)
    return output / total, (torch.cat(scores, -1) - top).exp() / total


# %% as_a_module
def attention(query, key, value):
    class Attend(nn.Module):
        def __init__(self):
            super().__init__()
            self.normalise = nn.Softmax(-1)

        def forward(self, query, key, value):
            weights = self.normalise((key @ query.mT).mT)
            return (value.mT @ weights.mT).mT, weights

    return Attend()(query, key, value)
