"""Right answers to `neighbours` in other styles."""

import torch


# %% by_topk
def neighbours(i, table, count):
    cosines = torch.cosine_similarity(table[i], table, dim=-1)
    cosines[i] = -2
    return cosines.topk(count).indices


# %% without_the_first
def neighbours(i, table, count):
    units = table / table.norm(dim=-1, keepdim=True)
    return torch.argsort(units @ units[i], descending=True)[1 : count + 1]
