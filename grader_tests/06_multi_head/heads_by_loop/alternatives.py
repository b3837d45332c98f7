"""Right answers to `heads_by_loop`."""

import torch


# %% appended
def heads_by_loop(x, heads):
    outputs = []
    for W_q, W_k, W_v in heads:
        query, key, value = x @ W_q, x @ W_k, x @ W_v
        weights = torch.softmax(query @ key.T / query.shape[-1] ** 0.5, dim=-1)
        outputs.append(weights @ value)
    return torch.cat(outputs, dim=-1)


# %% filled
def heads_by_loop(x, heads):
    found = [torch.softmax(x @ q @ (x @ k).T * k.shape[1] ** -0.5, -1) @ (x @ v) for q, k, v in heads]
    return torch.hstack(found)
