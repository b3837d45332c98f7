# latent is repeated for each head, a tensor of H times its size
import torch


def absorbed_attention(query, latent, W_k, W_v, mask=None):
    H, K = query.shape[1], query.shape[-1]
    C = latent.shape[-1]
    every = latent.unsqueeze(1).repeat(1, H, 1, 1)
    q = query @ W_k.reshape(H, K, C)
    scores = q @ every.transpose(-1, -2) * K**-0.5
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        low = torch.finfo(scores.dtype).min
        weights = torch.softmax(torch.where(mask, low, scores), dim=-1) * (~mask)
    return (weights @ every) @ W_v.reshape(H, K, C).transpose(-1, -2), weights
