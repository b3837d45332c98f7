"""Right answers to `logsumexp_of` in other styles."""

import torch
from torch import nn

# %% by_where


def logsumexp_of(scores):
    top = scores.max(dim=-1, keepdim=True).values
    seen = top > float("-inf")
    top = torch.where(seen, top, torch.zeros_like(top))
    total = (scores - top).exp().sum(dim=-1, keepdim=True)
    log = torch.log(torch.where(seen, total, torch.ones_like(total)))
    return torch.where(seen, top + log, torch.full_like(log, float("-inf"))).squeeze(-1)


# %% score_by_score
def logsumexp_of(scores):
    highest = torch.full_like(scores[..., 0], -torch.inf)
    total = torch.zeros_like(scores[..., 0])
    for score in scores.unbind(-1):
        new = torch.maximum(highest, score).detach()
        safe = new.masked_fill(new == -torch.inf, 0.0)
        total = total * torch.exp(highest - safe) + torch.exp(score - safe)
        highest = new
    empty = highest == -torch.inf
    return (highest.masked_fill(empty, 0.0) + total.masked_fill(empty, 1.0).log()).masked_fill(empty, -torch.inf)


# %% with_a_lowest_score
def logsumexp_of(scores):
    lowest = torch.finfo(scores.dtype).min
    m = scores.detach().amax(-1).clamp(min=lowest)
    parts = torch.exp(scores - m.unsqueeze(-1))
    total = parts.sum(-1)
    return torch.where(total > 0, m + total.clamp(min=0.5).log(), torch.zeros_like(m) - torch.inf)


# %% sorted_and_log1p
def logsumexp_of(scores):
    s = scores.sort(-1, descending=True).values
    top, rest = s[..., 0], s[..., 1:]
    empty = top.isneginf()
    safe = top.masked_fill(empty, 0.0)
    added = torch.exp(rest - safe[..., None]).sum(-1)
    return (safe + added.log1p()).masked_fill(empty, -torch.inf)


# %% AFunctionOfItsOwn
class Log(torch.autograd.Function):
    @staticmethod
    def forward(ctx, scores):
        highest = scores.amax(-1, keepdim=True).nan_to_num(neginf=0.0)
        result = highest.squeeze(-1) + (scores - highest).exp().sum(-1).log()
        ctx.save_for_backward(scores, result)
        return result

    @staticmethod
    def backward(ctx, grad):
        scores, result = ctx.saved_tensors
        weights = (scores - result.nan_to_num(neginf=0.0).unsqueeze(-1)).exp()
        return grad.unsqueeze(-1) * weights


class Layer(nn.Module):
    def forward(self, scores):
        return Log.apply(scores)


def logsumexp_of(scores):
    return Layer()(scores)
