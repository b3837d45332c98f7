# %% wrong: latent_broadcast_over_heads | The latent vectors get a head dimension and @ copies them once for every head.
def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    Wk = W_k.view(H, K, -1)
    Wv = W_v.view(H, K, -1)
    q = torch.einsum("bhtk,hkc->bhtc", query, Wk)
    scores = (q @ latent.unsqueeze(1).transpose(-1, -2)) / math.sqrt(K)
    if mask is not None:
        scores = scores.masked_fill(mask, -1e30)
    weights = scores.softmax(-1)
    if mask is not None:
        weights = weights.masked_fill(mask, 0.0)
    mixed = weights @ latent.unsqueeze(1)
    output = torch.einsum("bhtc,hkc->bhtk", mixed, Wv)
    return output, weights

# %% wrong: values_made | Only the keys are absorbed; the values of all positions are still made from the latent vectors.
def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    Wk = W_k.view(H, K, -1)
    Wv = W_v.view(H, K, -1)
    q = torch.einsum("bhtk,hkc->bhtc", query, Wk)
    scores = torch.einsum("bhtc,bsc->bhts", q, latent) / math.sqrt(K)
    if mask is not None:
        scores = scores.masked_fill(mask, -1e30)
    weights = scores.softmax(-1)
    if mask is not None:
        weights = weights.masked_fill(mask, 0.0)
    v = (latent @ W_v.T).unflatten(-1, (H, K)).transpose(1, 2)
    output = weights @ v
    return output, weights

# %% wrong: scale_root_latent | The scores are divided by the root of C, the width of the vectors that are multiplied, not of K.
def _masked_softmax(scores, mask):
    if mask is None:
        return torch.softmax(scores, dim=-1)
    mask = mask.expand_as(scores)
    none_open = mask.all(dim=-1, keepdim=True)
    scores = scores.masked_fill(mask & ~none_open, -float("inf"))
    return torch.softmax(scores, dim=-1).masked_fill(none_open, 0)

def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    S, C = latent.shape[1:]
    up_k = W_k.reshape(H, K, C)
    up_v = W_v.reshape(H, K, C)
    short = query.transpose(0, 1).reshape(H, B * T, K) @ up_k
    short = short.reshape(H, B, T, C).transpose(0, 1).reshape(B, H * T, C)
    scores = (short @ latent.mT).reshape(B, H, T, S) * C ** -0.5
    weights = _masked_softmax(scores, mask)
    mixed = weights.reshape(B, H * T, S) @ latent
    mixed = mixed.reshape(B, H, T, C).transpose(0, 1).reshape(H, B * T, C)
    output = (mixed @ up_v.mT).reshape(H, B, T, K).transpose(0, 1)
    return output, weights

# %% wrong: dead_row_nan | A row without any open key is NaN, because the softmax of -inf alone is.
def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    Wk = W_k.view(H, K, -1)
    Wv = W_v.view(H, K, -1)
    q = torch.einsum("bhtk,hkc->bhtc", query, Wk)
    scores = torch.einsum("bhtc,bsc->bhts", q, latent) / math.sqrt(K)
    if mask is not None:
        scores = scores.masked_fill(mask, float('-inf'))
    weights = scores.softmax(-1)
    mixed = torch.einsum("bhts,bsc->bhtc", weights, latent)
    output = torch.einsum("bhtc,hkc->bhtk", mixed, Wv)
    return output, weights

# %% wrong: interleaved_heads | The rows of the matrices are taken as (K, H), so that a head gets every H-th row.
def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    Wk = W_k.view(K, H, -1).transpose(0, 1)
    Wv = W_v.view(K, H, -1).transpose(0, 1)
    q = torch.einsum("bhtk,hkc->bhtc", query, Wk)
    scores = torch.einsum("bhtc,bsc->bhts", q, latent) / math.sqrt(K)
    if mask is not None:
        scores = scores.masked_fill(mask, -1e30)
    weights = scores.softmax(-1)
    if mask is not None:
        weights = weights.masked_fill(mask, 0.0)
    mixed = torch.einsum("bhts,bsc->bhtc", weights, latent)
    output = torch.einsum("bhtc,hkc->bhtk", mixed, Wv)
    return output, weights

# %% wrong: elementwise_product_table | The query meets its matrix by broadcasting and a sum, which makes a tensor (B, H, T, K, C).
def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    Wk = W_k.view(H, K, -1)
    Wv = W_v.view(H, K, -1)
    q = (query.unsqueeze(-1) * Wk[None, :, None]).sum(-2)
    scores = torch.einsum("bhtc,bsc->bhts", q, latent) / math.sqrt(K)
    if mask is not None:
        scores = scores.masked_fill(mask, -1e30)
    weights = scores.softmax(-1)
    if mask is not None:
        weights = weights.masked_fill(mask, 0.0)
    mixed = torch.einsum("bhts,bsc->bhtc", weights, latent)
    output = torch.einsum("bhtc,hkc->bhtk", mixed, Wv)
    return output, weights

# %% wrong: mask_inverted | Keys where the mask is True are kept and the others are blocked, as F.scaled_dot_product_attention does.
def _masked_softmax(scores, mask):
    if mask is None:
        return torch.softmax(scores, dim=-1)
    mask = mask.logical_not().expand_as(scores)
    none_open = mask.all(dim=-1, keepdim=True)
    scores = scores.masked_fill(mask & ~none_open, -float("inf"))
    return torch.softmax(scores, dim=-1).masked_fill(none_open, 0)

def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    S, C = latent.shape[1:]
    up_k = W_k.reshape(H, K, C)
    up_v = W_v.reshape(H, K, C)
    short = query.transpose(0, 1).reshape(H, B * T, K) @ up_k
    short = short.reshape(H, B, T, C).transpose(0, 1).reshape(B, H * T, C)
    scores = (short @ latent.mT).reshape(B, H, T, S) * K ** -0.5
    weights = _masked_softmax(scores, mask)
    mixed = weights.reshape(B, H * T, S) @ latent
    mixed = mixed.reshape(B, H, T, C).transpose(0, 1).reshape(H, B * T, C)
    output = (mixed @ up_v.mT).reshape(H, B, T, K).transpose(0, 1)
    return output, weights

# %% wrong: weight_data | The absorbed matrices are taken from .data, so W_k and W_v get no gradient.
def _masked_softmax(scores, mask):
    if mask is None:
        return torch.softmax(scores, dim=-1)
    mask = mask.expand_as(scores)
    none_open = mask.all(dim=-1, keepdim=True)
    scores = scores.masked_fill(mask & ~none_open, -float("inf"))
    return torch.softmax(scores, dim=-1).masked_fill(none_open, 0)

def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    S, C = latent.shape[1:]
    up_k = W_k.data.reshape(H, K, C)
    up_v = W_v.data.reshape(H, K, C)
    short = query.transpose(0, 1).reshape(H, B * T, K) @ up_k
    short = short.reshape(H, B, T, C).transpose(0, 1).reshape(B, H * T, C)
    scores = (short @ latent.mT).reshape(B, H, T, S) * K ** -0.5
    weights = _masked_softmax(scores, mask)
    mixed = weights.reshape(B, H * T, S) @ latent
    mixed = mixed.reshape(B, H, T, C).transpose(0, 1).reshape(H, B * T, C)
    output = (mixed @ up_v.mT).reshape(H, B, T, K).transpose(0, 1)
    return output, weights

# %% wrong: plain_attention | Keys and values of every head are made and used in ordinary attention.
def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    S = latent.shape[1]
    keys = F.linear(latent, W_k).view(B, S, H, K).permute(0, 2, 1, 3)
    values = F.linear(latent, W_v).view(B, S, H, K).permute(0, 2, 1, 3)
    scores = torch.matmul(query, keys.transpose(2, 3)) / K ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask, -1e30)
    weights = F.softmax(scores, dim=-1)
    if mask is not None:
        weights = weights.masked_fill(mask, 0)
    return torch.matmul(weights, values), weights

# %% wrong: mask_given_head_dim | The mask always gets a head dimension at 1, which is wrong for (T, S) and (B, H, T, S).
def _masked_softmax(scores, mask):
    if mask is None:
        return torch.softmax(scores, dim=-1)
    mask = mask.unsqueeze(1).expand_as(scores)
    none_open = mask.all(dim=-1, keepdim=True)
    scores = scores.masked_fill(mask & ~none_open, -float("inf"))
    return torch.softmax(scores, dim=-1).masked_fill(none_open, 0)

def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    S, C = latent.shape[1:]
    up_k = W_k.reshape(H, K, C)
    up_v = W_v.reshape(H, K, C)
    short = query.transpose(0, 1).reshape(H, B * T, K) @ up_k
    short = short.reshape(H, B, T, C).transpose(0, 1).reshape(B, H * T, C)
    scores = (short @ latent.mT).reshape(B, H, T, S) * K ** -0.5
    weights = _masked_softmax(scores, mask)
    mixed = weights.reshape(B, H * T, S) @ latent
    mixed = mixed.reshape(B, H, T, C).transpose(0, 1).reshape(H, B * T, C)
    output = (mixed @ up_v.mT).reshape(H, B, T, K).transpose(0, 1)
    return output, weights

# %% wrong: values_with_W_k | The output is brought up with W_k, the values' own matrix is never used.
def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    Wk = W_k.view(H, K, -1)
    Wv = W_v.view(H, K, -1)
    q = torch.einsum("bhtk,hkc->bhtc", query, Wk)
    scores = torch.einsum("bhtc,bsc->bhts", q, latent) / math.sqrt(K)
    if mask is not None:
        scores = scores.masked_fill(mask, -1e30)
    weights = scores.softmax(-1)
    if mask is not None:
        weights = weights.masked_fill(mask, 0.0)
    mixed = torch.einsum("bhts,bsc->bhtc", weights, latent)
    output = torch.einsum("bhtc,hkc->bhtk", mixed, Wk)
    return output, weights

# %% wrong: softmax_over_queries | The softmax runs over the queries instead of over the keys.
def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    Wk = W_k.view(H, K, -1)
    Wv = W_v.view(H, K, -1)
    q = torch.einsum("bhtk,hkc->bhtc", query, Wk)
    scores = torch.einsum("bhtc,bsc->bhts", q, latent) / math.sqrt(K)
    if mask is not None:
        scores = scores.masked_fill(mask, -1e30)
    weights = scores.softmax(-2)
    if mask is not None:
        weights = weights.masked_fill(mask, 0.0)
    mixed = torch.einsum("bhts,bsc->bhtc", weights, latent)
    output = torch.einsum("bhtc,hkc->bhtk", mixed, Wv)
    return output, weights

# %% wrong: dead_row_uniform | Blocked scores are a large negative number and no more, so a fully blocked row averages all positions.
def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    Wk = W_k.view(H, K, -1)
    Wv = W_v.view(H, K, -1)
    q = torch.einsum("bhtk,hkc->bhtc", query, Wk)
    scores = torch.einsum("bhtc,bsc->bhts", q, latent) / math.sqrt(K)
    if mask is not None:
        scores = scores.masked_fill(mask, -1e30)
    weights = scores.softmax(-1)
    mixed = torch.einsum("bhts,bsc->bhtc", weights, latent)
    output = torch.einsum("bhtc,hkc->bhtk", mixed, Wv)
    return output, weights

# %% wrong: matrix_viewed_C_by_K | The rows of a head are reshaped to (C, K) instead of being transposed, which mixes their entries.
def _masked_softmax(scores, mask):
    if mask is None:
        return torch.softmax(scores, dim=-1)
    mask = mask.expand_as(scores)
    none_open = mask.all(dim=-1, keepdim=True)
    scores = scores.masked_fill(mask & ~none_open, -float("inf"))
    return torch.softmax(scores, dim=-1).masked_fill(none_open, 0)

def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    S, C = latent.shape[1:]
    up_k = W_k.reshape(H, C, K).mT
    up_v = W_v.reshape(H, C, K).mT
    short = query.transpose(0, 1).reshape(H, B * T, K) @ up_k
    short = short.reshape(H, B, T, C).transpose(0, 1).reshape(B, H * T, C)
    scores = (short @ latent.mT).reshape(B, H, T, S) * K ** -0.5
    weights = _masked_softmax(scores, mask)
    mixed = weights.reshape(B, H * T, S) @ latent
    mixed = mixed.reshape(B, H, T, C).transpose(0, 1).reshape(H, B * T, C)
    output = (mixed @ up_v.mT).reshape(H, B, T, K).transpose(0, 1)
    return output, weights

# %% wrong: causal_by_habit | Later positions are blocked although no mask was given.
def _masked_softmax(scores, mask):
    if mask is None:
        return torch.softmax(scores, dim=-1)
    mask = mask.expand_as(scores)
    none_open = mask.all(dim=-1, keepdim=True)
    scores = scores.masked_fill(mask & ~none_open, -float("inf"))
    return torch.softmax(scores, dim=-1).masked_fill(none_open, 0)

def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    S, C = latent.shape[1:]
    up_k = W_k.reshape(H, K, C)
    up_v = W_v.reshape(H, K, C)
    short = query.transpose(0, 1).reshape(H, B * T, K) @ up_k
    short = short.reshape(H, B, T, C).transpose(0, 1).reshape(B, H * T, C)
    scores = (short @ latent.mT).reshape(B, H, T, S) * K ** -0.5
    late = torch.ones(T, S, dtype=torch.bool, device=query.device).triu(S - T + 1)
    mask = late if mask is None else mask | late
    weights = _masked_softmax(scores, mask)
    mixed = weights.reshape(B, H * T, S) @ latent
    mixed = mixed.reshape(B, H, T, C).transpose(0, 1).reshape(H, B * T, C)
    output = (mixed @ up_v.mT).reshape(H, B, T, K).transpose(0, 1)
    return output, weights

# %% right: einsum
def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    Wk = W_k.view(H, K, -1)
    Wv = W_v.view(H, K, -1)
    q = torch.einsum("bhtk,hkc->bhtc", query, Wk)
    scores = torch.einsum("bhtc,bsc->bhts", q, latent) / math.sqrt(K)
    if mask is not None:
        scores = scores.masked_fill(mask, -1e30)
    weights = scores.softmax(-1)
    if mask is not None:
        weights = weights.masked_fill(mask, 0.0)
    mixed = torch.einsum("bhts,bsc->bhtc", weights, latent)
    output = torch.einsum("bhtc,hkc->bhtk", mixed, Wv)
    return output, weights

# %% right: bmm_reshapes
def _masked_softmax(scores, mask):
    if mask is None:
        return torch.softmax(scores, dim=-1)
    mask = mask.expand_as(scores)
    none_open = mask.all(dim=-1, keepdim=True)
    scores = scores.masked_fill(mask & ~none_open, -float("inf"))
    return torch.softmax(scores, dim=-1).masked_fill(none_open, 0)

def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    S, C = latent.shape[1:]
    up_k = W_k.reshape(H, K, C)
    up_v = W_v.reshape(H, K, C)
    short = query.transpose(0, 1).reshape(H, B * T, K) @ up_k
    short = short.reshape(H, B, T, C).transpose(0, 1).reshape(B, H * T, C)
    scores = (short @ latent.mT).reshape(B, H, T, S) * K ** -0.5
    weights = _masked_softmax(scores, mask)
    mixed = weights.reshape(B, H * T, S) @ latent
    mixed = mixed.reshape(B, H, T, C).transpose(0, 1).reshape(H, B * T, C)
    output = (mixed @ up_v.mT).reshape(H, B, T, K).transpose(0, 1)
    return output, weights

# %% right: loop_over_heads
def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    S = latent.shape[1]
    if mask is not None:
        mask = mask.expand(B, H, T, S)
    outs, ws = [], []
    for h in range(H):
        rows = slice(h * K, (h + 1) * K)
        s = (query[:, h] @ W_k[rows]) @ latent.transpose(1, 2) / math.sqrt(K)
        if mask is None:
            p = torch.softmax(s, -1)
        else:
            m = mask[:, h]
            p = torch.softmax(s.masked_fill(m, torch.finfo(s.dtype).min), -1).masked_fill(m, 0)
        ws.append(p)
        outs.append((p @ latent) @ W_v[rows].T)
    return torch.stack(outs, 1), torch.stack(ws, 1)

# %% right: loop_over_batch
def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    S, C = latent.shape[-2:]
    up, down = W_k.unflatten(0, (H, K)), W_v.unflatten(0, (H, K)).mT
    mask = torch.zeros(1, dtype=torch.bool, device=query.device) if mask is None else mask
    mask = mask.expand(B, H, T, S)
    res = []
    for b in range(B):
        q = torch.bmm(query[b], up).reshape(H * T, C)
        s = (q @ latent[b].T).view(H, T, S) / K ** 0.5
        s = s.masked_fill(mask[b], -1e30)
        e = torch.exp(s - s.amax(-1, keepdim=True).detach()).masked_fill(mask[b], 0)
        z = e.sum(-1, keepdim=True)
        p = e / torch.where(z == 0, 1.0, z)
        o = torch.bmm((p.view(H * T, S) @ latent[b]).view(H, T, C), down)
        res.append((o, p))
    return torch.stack([o for o, _ in res]), torch.stack([p for _, p in res])

# %% right: matrices_expanded_over_batch
def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    Wk = W_k.view(H, K, -1)
    Wv = W_v.view(H, K, -1)
    q = query @ Wk
    scores = torch.bmm(q.flatten(1, 2), latent.transpose(1, 2)).unflatten(1, (H, T)) / math.sqrt(K)
    if mask is not None:
        scores = scores.masked_fill(mask, -1e30)
    weights = scores.softmax(-1)
    if mask is not None:
        weights = weights.masked_fill(mask, 0.0)
    mixed = torch.einsum("bhts,bsc->bhtc", weights, latent)
    output = mixed @ Wv.transpose(1, 2)
    return output, weights
