"""Right answers to `attend_once` in other styles."""

import math

import torch
import torch.nn.functional as F


# %% three_steps
def attend_once(query, x):
    scores = x @ query
    weights = torch.softmax(scores, dim=0)
    context = weights @ x
    return scores, weights, context


# %% by_broadcasting
def attend_once(query, x):
    scores = (x * query).sum(dim=-1)
    weights = scores.softmax(dim=-1)
    return scores, weights, (weights[:, None] * x).sum(dim=0)


# %% word_by_word
def attend_once(query, x):
    scores = torch.stack([torch.dot(row, query) for row in x])
    weights = torch.softmax(scores, dim=0)
    context = sum(weight * row for weight, row in zip(weights, x))
    return scores, weights, context


# %% by_plain_exponentials uses small
def attend_once(query, x):
    scores = torch.matmul(x, query)
    powers = torch.exp(scores)
    weights = powers / powers.sum()
    return scores, weights, torch.matmul(weights, x)


# %% powers_of_e uses small
def attend_once(query, x):
    scores = query @ x.T
    weights = math.e**scores / (math.e**scores).sum()
    return scores, weights, x.T @ weights


# %% by_einsum
def attend_once(query, x):
    scores = torch.einsum("d,td->t", query, x)
    weights = F.softmax(scores, dim=-1)
    return scores, weights, torch.einsum("t,td->d", weights, x)


# %% with_a_row_of_one
def attend_once(query, x):
    scores = query.unsqueeze(0) @ x.mT
    weights = torch.softmax(scores, dim=1)
    context = weights @ x
    return scores[0], weights[0], context[0]


# %% by_log_softmax
def attend_once(query, x):
    scores = torch.mv(x, query)
    weights = torch.log_softmax(scores, 0).exp()
    return scores, weights, torch.mv(x.T, weights)
