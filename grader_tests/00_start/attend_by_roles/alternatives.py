"""Right answers to `attend_by_roles` in other styles."""

import torch
import torch.nn.functional as F


# %% three_lines
def attend_by_roles(x, W_q, W_k, W_v):
    q, k, v = x @ W_q, x @ W_k, x @ W_v
    weights = torch.softmax(q @ k.T, dim=-1)
    return weights @ v, weights


# %% with_named_steps
def attend_by_roles(x, W_q, W_k, W_v):
    query = torch.matmul(x, W_q)
    key = torch.matmul(x, W_k)
    value = torch.matmul(x, W_v)
    scores = torch.matmul(query, key.transpose(0, 1))
    weights = F.softmax(scores, dim=1)
    output = torch.matmul(weights, value)
    return output, weights


# %% without_names
def attend_by_roles(x, W_q, W_k, W_v):
    weights = ((x @ W_q) @ (x @ W_k).mT).softmax(dim=-1)
    return weights @ (x @ W_v), weights


# %% averages_first_and_projects_then
def attend_by_roles(x, W_q, W_k, W_v):
    weights = torch.softmax(x @ W_q @ (x @ W_k).T, dim=-1)
    return (weights @ x) @ W_v, weights


# %% by_plain_exponentials uses small
def attend_by_roles(x, W_q, W_k, W_v):
    q, k, v = x @ W_q, x @ W_k, x @ W_v
    powers = torch.exp(q @ k.T)
    weights = powers / powers.sum(dim=1, keepdim=True)
    return weights @ v, weights


# %% one_query_after_another
def attend_by_roles(x, W_q, W_k, W_v):
    keys, values = x @ W_k, x @ W_v
    rows = torch.stack([torch.softmax(keys @ (word @ W_q), dim=0) for word in x])
    return torch.stack([row @ values for row in rows]), rows


# %% by_einsum
def attend_by_roles(x, W_q, W_k, W_v):
    q, k, v = (torch.einsum("td,dk->tk", x, W) for W in (W_q, W_k, W_v))
    weights = torch.einsum("tk,sk->ts", q, k).softmax(-1)
    return torch.einsum("ts,sv->tv", weights, v), weights


# %% as_linear_layers
def attend_by_roles(x, W_q, W_k, W_v):
    q, k, v = F.linear(x, W_q.T), F.linear(x, W_k.T), F.linear(x, W_v.T)
    weights = torch.softmax(q @ k.T, dim=-1)
    return weights @ v, weights
