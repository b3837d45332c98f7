"""Right answers to `score_std` in other styles."""

import math

import torch


# %% by_loops
def score_std(query, key):
    width = query.shape[-1]
    pairs = zip(query.reshape(-1, *query.shape[-2:]), key.reshape(-1, *key.shape[-2:]), strict=True)
    scores = [(q * k).sum() for qs, ks in pairs for q in qs.reshape(-1, width) for k in ks]
    mean = sum(scores) / len(scores)
    return torch.sqrt(sum((s - mean) ** 2 for s in scores) / len(scores))


# %% by_broadcasting_and_variance
def score_std(query, key):
    scores = (query.unsqueeze(-2) * key.unsqueeze(-3)).sum(dim=-1)
    return torch.var(scores, unbiased=False).sqrt()


# %% length_of_what_is_left
def score_std(query, key):
    scores = torch.einsum("...ik,...jk->...ij", query, key)
    return torch.linalg.vector_norm(scores - scores.mean()) / math.sqrt(scores.numel())


# %% from_all_pairs_of_scores
def score_std(query, key):
    scores = torch.matmul(query, torch.swapaxes(key, -1, -2)).reshape(-1)
    return ((scores[:, None] - scores[None, :]).pow(2).mean() / 2).sqrt()


# %% mapped_over_the_batch
def score_std(query, key):
    each = torch.vmap(torch.vmap(torch.mv, in_dims=(None, 0)))  # over the batch, then over the queries
    scores = each(key.flatten(0, -3), query.flatten(0, -3)) if query.ndim > 2 else query.mm(key.t())
    return torch.std_mean(scores, dim=list(range(scores.ndim)), correction=0)[0]
