"""Right answers to `rooted_scores` in other styles."""

import math

import torch


# %% one_line
def rooted_scores(q, k):
    return q @ k.T / math.sqrt(q.shape[-1])


# %% by_a_power
def rooted_scores(q, k):
    return q @ k.T / q.shape[1] ** 0.5


# %% by_a_negative_power
def rooted_scores(q, k):
    return torch.matmul(q, k.transpose(-2, -1)) * k.size(-1) ** -0.5


# %% scales_the_queries
def rooted_scores(q, k):
    return (q / math.sqrt(q.shape[-1])) @ k.mT


# %% half_the_root_on_each_side
def rooted_scores(q, k):
    share = q.shape[-1] ** 0.25
    return (q / share) @ (k / share).T


# %% by_the_root_of_a_tensor
def rooted_scores(q, k):
    width = torch.tensor(k.shape[-1], dtype=q.dtype, device=q.device)
    return q @ k.T / torch.sqrt(width)


# %% with_named_steps
def rooted_scores(q, k):
    T, K = q.shape
    scores = torch.einsum("tk,sk->ts", q, k)
    return scores / K**0.5


# %% query_by_query
def rooted_scores(q, k):
    return torch.stack([k @ query for query in q]) / len(q[0]) ** 0.5
