"""Right answers to `simple_attention` in other styles."""

import torch
import torch.nn.functional as F
from torch import nn


# %% with_matrices
def simple_attention(x):
    weights = torch.softmax(x @ x.mT, dim=-1)
    return weights @ x, weights


# %% with_loops
def simple_attention(x):
    if x.ndim > 2:
        pairs = [simple_attention(sentence) for sentence in x]
        return torch.stack([p[0] for p in pairs]), torch.stack([p[1] for p in pairs])
    contexts, rows = [], []
    for word in x:
        row = torch.stack([(word * other).sum() for other in x])
        row = torch.exp(row - row.max())
        row = row / row.sum()
        contexts.append(sum(weight * other for weight, other in zip(row, x, strict=True)))
        rows.append(row)
    return torch.stack(contexts), torch.stack(rows)


# %% by_broadcasting
def simple_attention(x):
    scores = (x.unsqueeze(-2) * x.unsqueeze(-3)).sum(-1)
    scores = scores - scores.amax(-1, keepdim=True)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return (weights.unsqueeze(-1) * x.unsqueeze(-3)).sum(-2), weights


# %% by_the_built_in_attention
def simple_attention(x):
    def attend(values):
        return F.scaled_dot_product_attention(x, x, values, scale=1.0)

    one_hot = torch.eye(x.shape[-2]).to(x).expand(*x.shape[:-1], x.shape[-2])
    return attend(x), attend(one_hot)


# %% one_word_mapped_over_all
def simple_attention(x):
    def one(word, sentence):
        weights = nn.functional.softmax(sentence @ word, dim=0)
        return weights @ sentence, weights

    flat = x.reshape(-1, *x.shape[-2:])
    found = torch.vmap(torch.vmap(one, in_dims=(0, None)))(flat, flat)
    return found[0].reshape(x.shape), found[1].reshape(*x.shape[:-1], x.shape[-2])


# %% by_log_weights
def simple_attention(x):
    scores = torch.matmul(x, x.transpose(-1, -2))
    weights = (scores - scores.logsumexp(-1, keepdim=True)).exp()
    return torch.matmul(weights, x), weights


# %% columns_and_back
def simple_attention(x):
    by_column = nn.Softmax(dim=-2)(x @ x.mT)  # scores are symmetric, so columns are the rows' weights
    return [(x.mT @ by_column).mT, by_column.mT]
