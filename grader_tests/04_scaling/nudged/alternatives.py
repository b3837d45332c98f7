"""Right answers to `nudged`."""

import torch


# %% all_at_once
def nudged(scores, by):
    weights = torch.softmax(scores, dim=-1)
    moved = torch.softmax(scores + by * torch.eye(len(scores)).to(scores), dim=-1)
    return ((moved - weights) / by).T


# %% score_by_score
def nudged(scores, by):
    weights = torch.softmax(scores, dim=0)
    rates = torch.zeros(len(scores), len(scores), dtype=scores.dtype)
    for j in range(len(scores)):
        raised = scores.clone()
        raised[j] += by
        rates[:, j] = (torch.softmax(raised, dim=0) - weights) / by
    return rates


# %% columns_of_scores
def nudged(scores, by):
    before = scores[:, None]
    after = before + torch.diag(torch.full_like(scores, by))
    return (after.softmax(0) - before.softmax(0)) / by
