"""Right answers to `multi_head`, with the steps before it written out."""

import torch


# %% all_heads_at_once
def multi_head(x, W_q, W_k, W_v, W_o, n_heads):
    query, key, value = ((x @ W).unflatten(-1, (n_heads, -1)).transpose(1, 2) for W in (W_q, W_k, W_v))
    weights = torch.softmax(query @ key.mT / query.shape[-1] ** 0.5, dim=-1)
    output = (weights @ value).transpose(1, 2).flatten(2)
    return output @ W_o, weights


# %% band_by_band
def multi_head(x, W_q, W_k, W_v, W_o, n_heads):
    outputs, maps = [], []
    for q, k, v in zip(*((x @ W).chunk(n_heads, dim=-1) for W in (W_q, W_k, W_v))):
        maps.append((q @ k.mT / q.shape[-1] ** 0.5).softmax(-1))
        outputs.append(maps[-1] @ v)
    return torch.cat(outputs, -1) @ W_o, torch.stack(maps, 1)
