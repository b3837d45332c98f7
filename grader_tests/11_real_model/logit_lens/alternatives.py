"""Right answers to `logit_lens` in other styles."""

import torch
import torch.nn.functional as F


# %% lens_at_once
def logit_lens(hidden, norm, unembedding):
    return norm(hidden) @ unembedding.T


# %% lens_by_linear
def logit_lens(hidden, norm, unembedding):
    return F.linear(norm(hidden), unembedding)


# %% lens_layer_by_layer
def logit_lens(hidden, norm, unembedding):
    layers = []
    for layer in hidden:
        layers.append(torch.matmul(norm(layer), unembedding.transpose(0, 1)))
    return torch.stack(layers, dim=0)


# %% lens_written_into
def logit_lens(hidden, norm, unembedding):
    L, B, T, _ = hidden.shape
    logits = hidden.new_zeros(L, B, T, len(unembedding))
    for i in range(L):
        for b in range(B):
            logits[i, b] = norm(hidden[i, b]) @ unembedding.mT
    return logits


# %% lens_flattened
def logit_lens(hidden, norm, unembedding):
    rows = norm(hidden.reshape(-1, hidden.shape[-1]))
    return unembedding.mm(rows.t()).t().reshape(*hidden.shape[:-1], -1)
