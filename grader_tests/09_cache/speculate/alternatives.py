"""Right answers to `speculate` in other styles."""

import torch
import torch.nn.functional as F


# %% by_what_both_have
def speculate(target, draft):
    both = torch.minimum(target, draft)
    accepted = torch.where(draft > 0, both / draft, 1.0)
    missing = target - both
    total = missing.sum(dim=-1, keepdim=True)
    corrected = torch.where(total > 0, missing / total, target)
    return accepted, corrected


# %% what_is_not_a_number_replaced
def speculate(target, draft):
    accepted = (target / draft).nan_to_num(1.0).clamp(max=1)
    missing = F.normalize((target - draft).clamp(min=0), p=1.0, dim=-1)
    return accepted, torch.where((target == draft).all(-1, keepdim=True), target, missing)


# %% one_place_after_another
def speculate(target, draft):
    accepted, corrected = [], []
    for p, q in zip(target.flatten(0, -2), draft.flatten(0, -2)) if target.ndim > 1 else [(target, draft)]:
        share = torch.ones_like(p)
        share[q > p] = p[q > p] / q[q > p]
        lacking = torch.where(p > q, p - q, 0.0)
        accepted.append(share)
        corrected.append(lacking / lacking.sum() if lacking.any() else p)
    return torch.stack(accepted).reshape(target.shape), torch.stack(corrected).reshape(target.shape)
