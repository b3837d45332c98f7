"""Right answers to `tiled_attention` in other styles."""

import torch

# %% maximum_sum_and_output


def tiled_attention(query, key, value, mask=None, tile=64):
    if tile < 1:
        raise ValueError(f"tile must be at least 1, not {tile}")
    S, scale = key.shape[-2], query.shape[-1] ** -0.5
    if mask is not None:
        mask = mask.expand(*query.shape[:-1], S)
    highest = torch.full_like(query[..., :1], float("-inf"))
    total = torch.zeros_like(query[..., :1])
    output = query.new_zeros(*query.shape[:-1], value.shape[-1])
    for i in range(0, S, tile):
        scores = scale * query @ key[..., i : i + tile, :].transpose(-2, -1)
        if mask is not None:
            scores = scores.masked_fill(mask[..., i : i + tile], float("-inf"))
        new = torch.maximum(highest, scores.detach().amax(-1, keepdim=True))
        level = new.masked_fill(new.isneginf(), 0.0)
        shrink = torch.exp(highest - level)
        parts = torch.exp(scores - level)
        total = total * shrink + parts.sum(-1, keepdim=True)
        output = output * shrink + parts @ value[..., i : i + tile, :]
        highest = new
    empty = total == 0
    total = total.masked_fill(empty, 1.0)
    lse = (highest.masked_fill(empty, 0.0) + total.log()).masked_fill(empty, float("-inf"))
    return output / total, lse.squeeze(-1)


# %% by_parts_and_merges
def attend(query, key, value, mask):
    scores = torch.einsum("...tk,...sk->...ts", query, key) / query.shape[-1] ** 0.5
    if mask is not None:
        scores = torch.where(mask, -torch.inf, scores)
    top = scores.amax(-1).detach().clamp(min=torch.finfo(scores.dtype).min)
    parts = (scores - top[..., None]).exp()
    total = parts.sum(-1)
    seen = total > 0
    safe = torch.where(seen, total, 1.0)
    return parts @ value / safe[..., None], torch.where(seen, top + safe.log(), -torch.inf)


def join(a, b):
    (out, lse), (other, its) = a, b
    top = torch.maximum(lse, its).detach().nan_to_num(neginf=0.0)
    x, y = (lse - top).exp(), (its - top).exp()
    seen = x + y > 0
    total = torch.where(seen, x + y, 1.0)
    mixed = (x[..., None] * out + y[..., None] * other) / total[..., None]
    return mixed, torch.where(seen, top + total.log(), -torch.inf)


def tiled_attention(query, key, value, mask=None, tile=64):
    if not tile >= 1:
        raise ValueError(f"tile = {tile} is too small")
    masks = None
    if mask is not None:
        masks = mask.expand(query.shape[:-1] + key.shape[-2:-1]).split(tile, -1)
    result = None
    for n, (k, v) in enumerate(zip(key.split(tile, -2), value.split(tile, -2), strict=True)):
        part = attend(query, k, v, None if masks is None else masks[n])
        result = part if result is None else join(result, part)
    return result


# %% query_by_query_too
def tiled_attention(query, key, value, mask=None, tile=64):
    if tile <= 0:
        raise ValueError(f"tile is {tile}: at least one key has to be read at a time")
    T, S = query.shape[-2], key.shape[-2]
    if mask is not None:
        mask = mask.expand(*query.shape[:-2], T, S)
    columns = []
    for t in range(T):
        q = query[..., t : t + 1, :] / query.shape[-1] ** 0.5
        m = torch.full_like(q[..., 0], torch.finfo(q.dtype).min).detach()
        norm, out = torch.zeros_like(m), torch.zeros_like(value[..., 0, :])
        for s in range(0, S, tile):
            score = (q * key[..., s : s + tile, :]).sum(-1)
            if mask is not None:
                score = score.masked_fill(mask[..., t, s : s + tile], -torch.inf)
            new = torch.maximum(m, score.detach().amax(-1, keepdim=True))
            p, keep = torch.exp(score - new), torch.exp(m - new)
            norm = keep * norm + p.sum(-1, keepdim=True)
            out = keep * out + (p.unsqueeze(-1) * value[..., s : s + tile, :]).sum(-2)
            m = new
        seen = norm > 0
        norm = torch.where(seen, norm, 1.0)
        columns.append((out / norm, torch.where(seen, m + norm.log(), -torch.inf).squeeze(-1)))
    outputs, sums = zip(*columns, strict=True)
    return torch.stack(outputs, -2), torch.stack(sums, -1)


# %% recursively
def tiled_attention(query, key, value, mask=None, tile=64):
    if tile < 1:
        raise ValueError(f"got tile={tile}")
    S = key.shape[-2]
    if mask is not None:
        mask = mask.expand(*query.shape[:-1], S)
    if S <= tile:
        return partial_attention(query, key, value, mask)
    half = -(-S // tile) // 2 * tile
    cut = [(None, None)] * 2 if mask is None else [(mask[..., :half],), (mask[..., half:],)]
    left = tiled_attention(query, key[..., :half, :], value[..., :half, :], cut[0][0], tile)
    right = tiled_attention(query, key[..., half:, :], value[..., half:, :], cut[1][0], tile)
    return merge(*left, *right)


def partial_attention(query, key, value, mask):
    scores = query @ key.mT / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask, -torch.inf)
    lse = logsumexp_of(scores)
    return torch.exp(scores - lse.nan_to_num(neginf=0.0)[..., None]) @ value, lse


def merge(output, lse, other_output, other_lse):
    whole = logsumexp_of(torch.stack([lse, other_lse], -1))
    level = whole.nan_to_num(neginf=0.0)
    return (lse - level).exp()[..., None] * output + (other_lse - level).exp()[..., None] * other_output, whole


def logsumexp_of(scores):
    top = scores.detach().amax(-1).nan_to_num(neginf=0.0)
    total = (scores - top[..., None]).exp().sum(-1)
    none = total == 0
    return (top + total.masked_fill(none, 1.0).log()).masked_fill(none, -torch.inf)
