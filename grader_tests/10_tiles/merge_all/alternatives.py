"""Right answers to `merge_all` in other styles."""

import torch


# %% attention_over_the_parts
def merge_all(outputs, lses):
    highest = lses.amax(0).detach()
    highest = highest.masked_fill(highest == float("-inf"), 0.0)
    shares = torch.exp(lses - highest)
    total = shares.sum(0)
    seen = total > 0
    divisor = total.masked_fill(~seen, 1.0)
    mixed = (shares.unsqueeze(-1) * outputs).sum(0) / divisor.unsqueeze(-1)
    return mixed, (highest + divisor.log()).masked_fill(~seen, float("-inf"))


# %% by_einsum
def merge_all(outputs, lses):
    highest = lses.max(dim=0, keepdim=True).values.clamp(min=torch.finfo(lses.dtype).min).detach()
    weights = (lses - highest).exp()
    total = weights.sum(dim=0, keepdim=True)
    shares = weights / torch.where(total == 0, 1.0, total)
    lse = torch.where(total == 0, -torch.inf, highest + torch.where(total == 0, 1.0, total).log())
    return torch.einsum("p...t,p...tv->...tv", shares, outputs), lse[0]


# %% one_after_another
def merge_all(outputs, lses):
    top = torch.full_like(lses[0], float("-inf"))
    total, mixed = torch.zeros_like(lses[0]), torch.zeros_like(outputs[0])
    for output, lse in zip(outputs, lses):
        higher = torch.maximum(top, lse).detach()
        base = torch.where(higher.isneginf(), 0.0, higher)
        old, new = torch.exp(top - base), torch.exp(lse - base)
        total = total * old + new
        mixed = mixed * old[..., None] + output * new[..., None]
        top = higher
    seen = total > 0
    total = torch.where(seen, total, 1.0)
    return mixed / total[..., None], torch.where(seen, top + total.log(), float("-inf"))
