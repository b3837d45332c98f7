# %% wrong: keys_and_values_made | Keys and values of all heads are made from the latent vectors, which is what the absorbed form avoids.
def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    S = latent.shape[1]
    key = F.linear(latent, W_k).view(B, S, H, K).transpose(1, 2)
    value = F.linear(latent, W_v).view(B, S, H, K).transpose(1, 2)
    scores = query @ key.transpose(-2, -1) / math.sqrt(K)
    if mask is None:
        weights = scores.softmax(-1)
    else:
        dead = mask.expand_as(scores).all(-1, keepdim=True)
        scores = scores.masked_fill(mask, float("-inf")).masked_fill(dead, 0)
        weights = scores.softmax(-1).masked_fill(dead, 0)
    return weights @ value, weights
# %% wrong: only_keys_absorbed | W_k is absorbed into the query, but the values of all positions are still made.
def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    C = latent.shape[-1]
    absorbed = torch.einsum("bhtk,hkc->bhtc", query, W_k.reshape(H, K, C))
    scores = torch.einsum("bhtc,bsc->bhts", absorbed, latent) * K ** -0.5
    if mask is not None:
        scores = scores.masked_fill(mask, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    if mask is not None:
        weights = weights.masked_fill(mask, 0.0)
    values = torch.einsum("bsc,hkc->bhsk", latent, W_v.reshape(H, K, C))
    return torch.einsum("bhts,bhsk->bhtk", weights, values), weights
# %% wrong: scale_of_latent_width | The scores are divided by √C, the width in which the absorbed dot product is taken, and not by √K.
def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    C = latent.size(-1)
    Wk, Wv = W_k.view(H, K, C), W_v.view(H, K, C)
    q = torch.einsum("bhtk,hkc->bhtc", query, Wk)
    s = torch.einsum("bhtc,bsc->bhts", q, latent) / math.sqrt(q.size(-1))
    if mask is not None:
        s = s.masked_fill(mask, -math.inf)
        empty = mask.broadcast_to(s.shape).all(dim=-1, keepdim=True)
        w = F.softmax(s.masked_fill(empty, 0.0), dim=-1).masked_fill(empty, 0.0)
    else:
        w = F.softmax(s, dim=-1)
    o = torch.einsum("bhts,bsc->bhtc", w, latent)
    return torch.einsum("bhtc,hkc->bhtk", o, Wv), w
# %% wrong: no_scale | The scores are not multiplied by 1/√K.
def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    S, C = latent.shape[1:]
    qs = query.transpose(0, 1).reshape(H, B * T, K)
    qc = torch.bmm(qs, W_k.reshape(H, K, C)).reshape(H, B, T, C).transpose(0, 1).reshape(B, H * T, C)
    scores = torch.bmm(qc, latent.transpose(1, 2)).reshape(B, H, T, S)
    if mask is not None:
        blocked = mask.expand(B, H, T, S)
        scores = scores.masked_fill(blocked, -1e30)
        weights = torch.softmax(scores, -1) * (~blocked)
    else:
        weights = torch.softmax(scores, -1)
    ctx = torch.bmm(weights.reshape(B, H * T, S), latent).reshape(B, H, T, C)
    ctx = ctx.transpose(0, 1).reshape(H, B * T, C)
    out = torch.bmm(ctx, W_v.reshape(H, K, C).transpose(1, 2))
    return out.reshape(H, B, T, K).transpose(0, 1), weights
# %% wrong: head_rows_interleaved | Head h takes every H-th row of W_k and W_v, view(K, H, C), and not its block of K rows.
def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    C = latent.shape[2]
    k_up = W_k.reshape(K, H, C)
    v_up = W_v.reshape(K, H, C)
    q_lat = torch.einsum("bhtk,khc->bhtc", query, k_up)
    logits = torch.einsum("bhtc,bsc->bhts", q_lat, latent) / K ** 0.5
    if mask is not None:
        logits = logits.masked_fill(mask, torch.finfo(logits.dtype).min)
    probs = logits.softmax(dim=-1)
    if mask is not None:
        probs = probs.masked_fill(mask, 0)
    return torch.einsum("bhtc,khc->bhtk", torch.einsum("bhts,bsc->bhtc", probs, latent), v_up), probs
# %% wrong: reshape_for_transpose | W_v is brought to (H, C, K) by a reshape instead of a transpose, which scrambles its entries.
def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    C = latent.shape[-1]
    up_k = W_k.view(H, K, C)
    up_v = W_v.reshape(H, C, K)
    outs, ws = [], []
    for h in range(H):
        s = (query[:, h] @ up_k[h]) @ latent.transpose(1, 2) / math.sqrt(K)
        if mask is not None:
            m = torch.broadcast_to(mask, (B, H, T, latent.shape[1]))[:, h]
            s = s.masked_fill(m, torch.finfo(s.dtype).min)
            w = torch.softmax(s, -1).masked_fill(m, 0)
        else:
            w = torch.softmax(s, -1)
        ws.append(w)
        outs.append((w @ latent) @ up_v[h])
    return torch.stack(outs, 1), torch.stack(ws, 1)
# %% wrong: latent_repeated | The latent vectors are copied for each head, a tensor (B, H, S, C), although all heads share them.
def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    C = latent.shape[-1]
    lat = latent.unsqueeze(1).repeat(1, H, 1, 1)
    q = torch.einsum("bhtk,hkc->bhtc", query, W_k.view(H, K, C))
    scores = q @ lat.transpose(-2, -1) / math.sqrt(K)
    if mask is not None:
        all_blocked = mask.expand_as(scores).all(-1, keepdim=True)
        scores = scores.masked_fill(mask, float("-inf")).masked_fill(all_blocked, 0.0)
        weights = torch.softmax(scores, -1).masked_fill(all_blocked, 0.0)
    else:
        weights = torch.softmax(scores, -1)
    ctx = weights @ lat
    return torch.einsum("bhtc,hkc->bhtk", ctx, W_v.view(H, K, C)), weights
# %% wrong: broadcast_product | The dot products are made by broadcasting, multiplying and summing, which makes a tensor (B, H, T, S, C).
def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    C = latent.shape[-1]
    absorbed = torch.einsum("bhtk,hkc->bhtc", query, W_k.unflatten(0, (H, K)))
    prod = absorbed[:, :, :, None, :] * latent[:, None, None, :, :]
    scores = prod.sum(-1) / math.sqrt(K)
    if mask is not None:
        scores = scores.masked_fill(mask, torch.finfo(scores.dtype).min)
    weights = scores.softmax(-1)
    if mask is not None:
        weights = weights.masked_fill(mask, 0.0)
    mixed = torch.einsum("bhts,bsc->bhtc", weights, latent)
    return torch.einsum("bhtc,hkc->bhtk", mixed, W_v.unflatten(0, (H, K))), weights
# %% wrong: fully_blocked_nan | A row with all keys blocked gives NaN: the softmax of only -inf.
def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    C = latent.shape[-1]
    W_k, W_v = W_k.view(H, K, C), W_v.view(H, K, C)
    scores = torch.einsum("bhtc,bsc->bhts", torch.einsum("bhtk,hkc->bhtc", query, W_k), latent)
    scores = scores / math.sqrt(K)
    if mask is not None:
        scores = scores.masked_fill(mask, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    output = torch.einsum("bhtc,hkc->bhtk", torch.einsum("bhts,bsc->bhtc", weights, latent), W_v)
    return output, weights
# %% wrong: mask_after_softmax | The blocked weights are set to 0 after the softmax, so the remaining ones no longer sum to 1.
def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    C = latent.shape[-1]
    q_c = torch.stack([query[:, h] @ W_k[h * K:(h + 1) * K] for h in range(H)], dim=1)
    scores = (q_c.reshape(B, H * T, C) @ latent.mT).reshape(B, H, T, -1) / K ** 0.5
    weights = scores.softmax(-1)
    if mask is not None:
        weights = weights.masked_fill(mask, 0.0)
    o_c = (weights.reshape(B, H * T, -1) @ latent).reshape(B, H, T, C)
    output = torch.stack([o_c[:, h] @ W_v[h * K:(h + 1) * K].T for h in range(H)], dim=1)
    return output, weights
# %% wrong: detached_weights | W_k and W_v are detached (.data), so they get no gradient.
def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    C = latent.shape[-1]
    wk = W_k.data.view(H, K, C)
    wv = W_v.data.view(H, K, C)
    scores = torch.einsum("bhtc,bsc->bhts", torch.einsum("bhtk,hkc->bhtc", query, wk), latent) / math.sqrt(K)
    if mask is not None:
        scores = scores.masked_fill(mask, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, -1)
    if mask is not None:
        weights = weights.masked_fill(mask, 0)
    output = torch.einsum("bhtc,hkc->bhtk", torch.einsum("bhts,bsc->bhtc", weights, latent), wv)
    return output, weights
# %% wrong: query_scaled_in_place | The scale is multiplied into the caller's query in place.
def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    C = latent.shape[-1]
    query *= 1.0 / math.sqrt(K)
    q_lat = torch.einsum("bhtk,hkc->bhtc", query, W_k.reshape(H, K, C))
    scores = torch.einsum("bhtc,bsc->bhts", q_lat, latent)
    if mask is not None:
        dead = mask.expand_as(scores).all(dim=-1, keepdim=True)
        scores = scores.masked_fill(mask & ~dead, float("-inf"))
        weights = scores.softmax(-1).masked_fill(dead, 0.0)
    else:
        weights = scores.softmax(-1)
    mixed = torch.einsum("bhts,bsc->bhtc", weights, latent)
    return torch.einsum("bhtc,hkc->bhtk", mixed, W_v.reshape(H, K, C)), weights
# %% wrong: scores_computed_twice | The scores are computed twice, once for the largest one of each row and once for the exponentials.
def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    C = latent.shape[-1]
    q_lat = torch.einsum("bhtk,hkc->bhtc", query, W_k.reshape(H, K, C)) / math.sqrt(K)

    def scores():
        s = torch.einsum("bhtc,bsc->bhts", q_lat, latent)
        return s if mask is None else s.masked_fill(mask, torch.finfo(s.dtype).min)

    top = scores().amax(-1, keepdim=True).detach()
    e = torch.exp(scores() - top)
    if mask is not None:
        e = e.masked_fill(mask, 0.0)
    total = e.sum(-1, keepdim=True)
    weights = e / total.masked_fill(total == 0, 1.0)
    mixed = torch.einsum("bhts,bsc->bhtc", weights, latent)
    return torch.einsum("bhtc,hkc->bhtk", mixed, W_v.reshape(H, K, C)), weights
# %% wrong: fully_blocked_uniform | Blocked scores become a large negative number and nothing more, so a row with all keys blocked attends to all of them equally.
def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    S, C = latent.shape[1], latent.shape[2]
    absorbed_q = torch.einsum("bhtk,hkc->bhtc", query, W_k.reshape(H, K, C))
    attn = torch.matmul(absorbed_q.flatten(1, 2), latent.transpose(1, 2)).view(B, H, T, S) * K ** -0.5
    if mask is not None:
        attn = attn.masked_fill(mask, torch.finfo(attn.dtype).min)
    attn = attn.softmax(-1)
    ctx = torch.matmul(attn.flatten(1, 2), latent).view(B, H, T, C)
    return torch.einsum("bhtc,hkc->bhtk", ctx, W_v.reshape(H, K, C)), attn
# %% wrong: weights_repeated_for_batch | The weight matrices are copied for each text of the batch, tensors (B, H, K, C), although all texts share them.
def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    C = latent.shape[-1]
    Wk = W_k.view(1, H, K, C).repeat(B, 1, 1, 1)
    Wv = W_v.view(1, H, K, C).repeat(B, 1, 1, 1)
    q = torch.matmul(query, Wk)
    scores = torch.einsum("bhtc,bsc->bhts", q, latent) / math.sqrt(K)
    if mask is not None:
        scores = scores.masked_fill(mask, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1).masked_fill(mask, 0.0)
    else:
        weights = torch.softmax(scores, dim=-1)
    ctx = torch.einsum("bhts,bsc->bhtc", weights, latent)
    return torch.matmul(ctx, Wv.transpose(-2, -1)), weights
# %% right: einsum
def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    C = latent.shape[-1]
    W_k, W_v = W_k.reshape(H, K, C), W_v.reshape(H, K, C)
    q = torch.einsum("bhtk,hkc->bhtc", query, W_k)
    scores = torch.einsum("bhtc,bsc->bhts", q, latent) / math.sqrt(K)
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        dead = mask.expand_as(scores).all(-1, keepdim=True)
        scores = scores.masked_fill(mask, float("-inf")).masked_fill(dead, 0.0)
        weights = torch.softmax(scores, dim=-1).masked_fill(dead, 0.0)
    mixed = torch.einsum("bhts,bsc->bhtc", weights, latent)
    return torch.einsum("bhtc,hkc->bhtk", mixed, W_v), weights
# %% right: bmm
def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    S, C = latent.shape[1:]
    q = query.transpose(0, 1).reshape(H, B * T, K) * K ** -0.5
    q = torch.bmm(q, W_k.reshape(H, K, C)).reshape(H, B, T, C).transpose(0, 1).reshape(B, H * T, C)
    scores = torch.bmm(q, latent.transpose(1, 2)).reshape(B, H, T, S)
    if mask is None:
        mask = torch.zeros(1, 1, 1, 1, dtype=torch.bool, device=query.device)
    scores = scores.masked_fill(mask, torch.finfo(scores.dtype).min)
    weights = scores.softmax(-1).masked_fill(mask, 0.0)
    mixed = torch.bmm(weights.reshape(B, H * T, S), latent).reshape(B, H, T, C)
    out = torch.bmm(mixed.transpose(0, 1).reshape(H, B * T, C), W_v.reshape(H, K, C).transpose(1, 2))
    return out.reshape(H, B, T, K).transpose(0, 1), weights
# %% right: loop_over_heads
def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    S = latent.shape[1]
    if mask is not None:
        mask = torch.broadcast_to(mask, (B, H, T, S))
    outs, ws = [], []
    for h in range(H):
        rows = slice(h * K, (h + 1) * K)
        s = (query[:, h] @ W_k[rows]) @ latent.mT / math.sqrt(K)
        if mask is not None:
            s = s.masked_fill(mask[:, h], -1e30)
        w = F.softmax(s, dim=-1)
        if mask is not None:
            w = w * ~mask[:, h]
        ws.append(w)
        outs.append(F.linear(w @ latent, W_v[rows]))
    return torch.stack(outs, dim=1), torch.stack(ws, dim=1)
# %% right: loop_over_texts_and_heads
def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    S = latent.shape[1]
    w_k, w_v = W_k.chunk(H, dim=0), W_v.chunk(H, dim=0)
    full = None if mask is None else mask.expand(B, H, T, S)
    output, weights = [], []
    for b in range(B):
        c = latent[b]
        for h in range(H):
            s = (query[b, h].matmul(w_k[h])).matmul(c.T) / K ** 0.5
            if full is not None:
                m = full[b, h]
                none_left = m.all(dim=-1, keepdim=True)
                s = s.masked_fill(m & ~none_left, -math.inf)
                a = torch.softmax(s, -1).masked_fill(none_left, 0)
            else:
                a = torch.softmax(s, -1)
            weights.append(a)
            output.append(a.matmul(c).matmul(w_v[h].T))
    return torch.stack(output).view(B, H, T, K), torch.stack(weights).view(B, H, T, S)
# %% right: manual_softmax
def _weights(scores, mask):
    if mask is None:
        mask = torch.zeros_like(scores, dtype=torch.bool)
    low = torch.finfo(scores.dtype).min
    top = scores.detach().masked_fill(mask, low).amax(-1, keepdim=True)
    e = (scores - top).masked_fill(mask, 0).exp().masked_fill(mask, 0)
    z = e.sum(-1, keepdim=True)
    return e / torch.where(z == 0, torch.ones_like(z), z)
def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    wk = W_k.unflatten(0, (H, K))
    wv = W_v.unflatten(0, (H, K))
    q = torch.einsum("bhik,hkc->bhic", query / math.sqrt(K), wk)
    w = _weights(torch.einsum("bhic,bjc->bhij", q, latent), mask)
    out = torch.einsum("bhij,bjc->bhic", w, latent)
    return torch.einsum("bhic,hkc->bhik", out, wv), w
