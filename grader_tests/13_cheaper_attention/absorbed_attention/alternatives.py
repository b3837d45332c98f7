"""Right answers to `absorbed_attention` in other styles."""

import math

import torch


# %% four_einsums
def absorbed_attention(query, latent, W_k, W_v, mask=None):
    H, K = query.shape[1], query.shape[3]
    into = torch.einsum("bhtk,hkc->bhtc", query, W_k.view(H, K, -1) if W_k.is_contiguous() else W_k.reshape(H, K, -1))
    scores = torch.einsum("bhtc,bsc->bhts", into, latent) / math.sqrt(K)
    if mask is not None:
        scores = scores.masked_fill(mask, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    if mask is not None:
        weights = weights.masked_fill(mask, 0.0)
    mixed = torch.einsum("bhts,bsc->bhtc", weights, latent)
    return torch.einsum("bhtc,hkc->bhtk", mixed, W_v.reshape(H, K, -1)), weights


# %% heads_and_queries_in_one_dimension
def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    C = latent.shape[-1]
    rows = query.permute(1, 0, 2, 3).reshape(H, B * T, K)
    into = torch.bmm(rows, W_k.unflatten(0, (H, K))).view(H, B, T, C).transpose(0, 1)
    scores = torch.bmm(into.reshape(B, H * T, C), latent.transpose(1, 2)).view(B, H, T, -1) * K**-0.5
    blocked = torch.zeros_like(scores, dtype=torch.bool) if mask is None else mask.expand(scores.shape)
    weights = scores.masked_fill(blocked, torch.finfo(query.dtype).min).softmax(-1).masked_fill(blocked, 0.0)
    mixed = torch.bmm(weights.reshape(B, H * T, -1), latent).view(B, H, T, C)
    columns = mixed.transpose(0, 1).reshape(H, B * T, C)
    output = torch.bmm(columns, W_v.unflatten(0, (H, K)).transpose(1, 2))
    return output.view(H, B, T, K).transpose(0, 1), weights


# %% head_by_head
def absorbed_attention(query, latent, W_k, W_v, mask=None):
    H, K = query.shape[1], query.shape[-1]
    shape = (*query.shape[:3], latent.shape[1])
    mask = None if mask is None else mask.expand(shape)
    outputs, maps = [], []
    for h in range(H):
        of_head = slice(h * K, (h + 1) * K)
        scores = (query[:, h] @ W_k[of_head]) @ latent.mT / K**0.5
        if mask is not None:
            scores = scores.masked_fill(mask[:, h], -torch.inf)
        weights = scores.softmax(-1)
        if mask is not None:
            weights = weights.masked_fill(mask[:, h], 0.0)
        outputs.append((weights @ latent) @ W_v[of_head].T)
        maps.append(weights)
    return torch.stack(outputs, 1), torch.stack(maps, 1)


# %% text_by_text
def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    S, C = latent.shape[1:]
    to_latent, from_latent = W_k.reshape(H, K, C), W_v.reshape(H, K, C)
    blocked = torch.zeros(1, dtype=torch.bool, device=query.device) if mask is None else mask
    blocked = blocked.expand(B, H, T, S)
    results = []
    for q, c, m in zip(query, latent, blocked):
        scores = ((q / math.sqrt(K)) @ to_latent).reshape(H * T, C) @ c.T
        scores = scores.reshape(H, T, S).masked_fill(m, -math.inf)
        top = scores.detach().amax(-1, keepdim=True)
        grown = torch.exp(scores - top.masked_fill(top.isneginf(), 0.0))
        total = grown.sum(-1, keepdim=True)
        weights = grown / total.masked_fill(total == 0, 1.0)
        mixed = (weights.reshape(H * T, S) @ c).reshape(H, T, C)
        results.append((mixed @ from_latent.mT, weights))
    outputs, maps = zip(*results)
    return torch.stack(outputs), torch.stack(maps)


# %% scaling_the_weights
def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    W_k = (W_k / math.sqrt(K)).unflatten(0, (H, K))
    W_v = W_v.unflatten(0, (H, K))
    narrow = torch.einsum("...htk,hkc->...htc", query, W_k)
    logits = (narrow.flatten(1, 2) @ latent.mT).unflatten(1, (H, T))
    if mask is None:
        weights = torch.softmax(logits, -1)
    else:
        logits = torch.where(mask, -torch.inf, logits)
        empty = mask.expand_as(logits).all(-1, keepdim=True)
        weights = torch.softmax(logits.masked_fill(empty, 0.0), -1).masked_fill(empty, 0.0)
    mixture = (weights.flatten(1, 2) @ latent).unflatten(1, (H, T))
    return torch.einsum("...htc,hkc->...htk", mixture, W_v), weights


# %% helpers_inside
def absorbed_attention(query, latent, W_k, W_v, mask=None):
    n_heads, width = query.shape[1], query.shape[-1]

    def per_head(weight):
        return torch.stack(weight.chunk(n_heads))

    def through(x, matrices):
        """(B, H, T, a) times (H, a, b) -> (B, H, T, b), one product for each head."""
        return torch.stack([x[:, h] @ matrices[h] for h in range(n_heads)], 1)

    def with_latents(x, latents):
        return torch.stack([rows.flatten(0, 1) @ some for rows, some in zip(x, latents)]).unflatten(1, x.shape[1:3])

    scores = with_latents(through(query, per_head(W_k)), latent.transpose(1, 2)).div(math.sqrt(width))
    weights = (scores if mask is None else scores.masked_fill(mask, float("-inf"))).softmax(-1)
    weights = weights if mask is None else weights.masked_fill(mask, 0.0)
    return through(with_latents(weights, latent), per_head(W_v).transpose(1, 2)), weights
