"""Right answers to `partial_attention` in other styles."""

import math

import torch
from torch import nn

# %% dividing_at_the_end
INF = float("inf")


def partial_attention(query, key, value, mask=None):
    scores = torch.einsum("...ik,...jk->...ij", query, key) * query.size(-1) ** -0.5
    if mask is not None:
        scores = scores.masked_fill(mask, -INF)
    highest = scores.max(-1, keepdim=True).values
    empty = highest == -INF
    highest = torch.where(empty, torch.zeros_like(highest), highest)
    parts = (scores - highest).exp()
    total = parts.sum(-1, keepdim=True).masked_fill(empty, 1.0)
    lse = (highest + total.log()).masked_fill(empty, -INF)
    return (parts @ value) / total, lse[..., 0]


# %% query_by_query
def partial_attention(query, key, value, mask=None):
    T, S = query.shape[-2], key.shape[-2]
    if mask is None:
        mask = query.new_zeros(1, dtype=torch.bool)
    mask = mask.expand(*query.shape[:-2], T, S)
    outputs, sums = [], []
    for i in range(T):
        scores = (key @ query[..., i, :, None]).squeeze(-1) / math.sqrt(query.shape[-1])
        blocked = mask[..., i, :]
        lowest = torch.finfo(scores.dtype).min
        top = scores.masked_fill(blocked, lowest).amax(-1, keepdim=True).detach()
        parts = (scores.masked_fill(blocked, lowest) - top).exp().masked_fill(blocked, 0.0)
        total = parts.sum(-1, keepdim=True)
        nothing = blocked.all(-1)
        outputs.append(((parts / total.clamp_min(0.1))[..., None] * value).sum(-2))
        sums.append((top + total.clamp_min(0.1).log()).squeeze(-1).masked_fill(nothing, -math.inf))
    return torch.stack(outputs, -2), torch.stack(sums, -1)


# %% with_a_column_of_ones
def partial_attention(query, key, value, mask=None):
    scores = (query / key.shape[-1] ** 0.5) @ key.transpose(-1, -2)
    if mask is not None:
        scores = torch.where(mask, -torch.inf, scores)
    top = torch.clamp(scores.detach().amax(-1, keepdim=True), min=torch.finfo(scores.dtype).min)
    ones = torch.ones_like(value[..., :1])
    both = torch.exp(scores - top) @ torch.cat([value, ones], dim=-1)
    total = both[..., -1]
    seen = total > 0
    total = torch.where(seen, total, 1.0)
    lse = torch.where(seen, top.squeeze(-1) + total.log(), -torch.inf)
    return both[..., :-1] / total.unsqueeze(-1), lse


# %% AttentionToAPart
class Part(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = math.sqrt(width)

    def forward(self, q, k, v, mask):
        s = q.matmul(k.swapaxes(-1, -2)) / self.scale
        blocked = torch.zeros_like(s, dtype=torch.bool) if mask is None else mask.expand_as(s)
        s = s.masked_fill(blocked, -torch.inf)
        lse = logsumexp_of(s)
        w = (s - lse.nan_to_num(neginf=0.0).unsqueeze(-1)).exp()
        return w.matmul(v), lse


def partial_attention(query, key, value, mask=None):
    return Part(query.shape[-1])(query, key, value, mask)


def logsumexp_of(scores):
    m = scores.detach().amax(-1, keepdim=True)
    m = m.masked_fill(torch.isinf(m), 0.0)
    total = torch.exp(scores - m).sum(-1)
    none = total == 0
    return (m[..., 0] + total.masked_fill(none, 1.0).log()).masked_fill(none, -torch.inf)
