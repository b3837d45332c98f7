"""Right answers to `causal_tiled_attention` in other styles."""

import torch


# %% maximum_sum_and_output
def causal_tiled_attention(query, key, value, tile=64):
    if tile < 1:
        raise ValueError(f"tile must be at least 1, not {tile}")
    T, scale = query.shape[-2], query.shape[-1] ** -0.5
    outputs, lses = [], []
    for i in range(0, T, tile):
        q = query[..., i : i + tile, :] * scale
        rows = torch.arange(i, i + q.shape[-2], device=q.device)
        highest = torch.full_like(q[..., :1], float("-inf"))
        total = torch.zeros_like(highest)
        output = torch.zeros_like(q[..., :1])
        for j in range(0, i + 1, tile):
            scores = q @ key[..., j : j + tile, :].transpose(-2, -1)
            columns = torch.arange(j, j + scores.shape[-1], device=q.device)
            scores = scores.masked_fill(columns > rows[:, None], float("-inf"))
            new = torch.maximum(highest, scores.detach().amax(-1, keepdim=True))
            shrink = torch.exp(highest - new)
            parts = torch.exp(scores - new)
            total = total * shrink + parts.sum(-1, keepdim=True)
            output = output * shrink + parts @ value[..., j : j + tile, :]
            highest = new
        outputs.append(output / total)
        lses.append((highest + total.log()).squeeze(-1))
    return torch.cat(outputs, -2), torch.cat(lses, -1)


# %% into_tensors_made_beforehand
def causal_tiled_attention(query, key, value, tile=64):
    if not tile >= 1:
        raise ValueError(f"tile = {tile} is too small")
    T = query.shape[-2]
    output = query.new_empty(*query.shape[:-1], value.shape[-1])
    lse = query.new_empty(query.shape[:-1])
    for i in range(0, T, tile):
        end = min(i + tile, T)
        q = query[..., i:end, :] / query.shape[-1] ** 0.5
        # The block on the diagonal comes first: every query sees a key in it
        future = torch.ones(end - i, end - i, dtype=torch.bool, device=q.device).triu(1)
        scores = torch.where(future, -torch.inf, q @ key[..., i:end, :].mT)
        top = scores.amax(-1).detach()
        parts = (scores - top[..., None]).exp()
        total, out = parts.sum(-1), parts @ value[..., i:end, :]
        for j in range(0, i, tile):
            scores = q @ key[..., j : j + tile, :].mT
            new = torch.maximum(top, scores.amax(-1).detach())
            shrink, parts = (top - new).exp(), (scores - new[..., None]).exp()
            total, top = total * shrink + parts.sum(-1), new
            out = out * shrink[..., None] + parts @ value[..., j : j + tile, :]
        output[..., i:end, :] = out / total[..., None]
        lse[..., i:end] = top + total.log()
    return output, lse


# %% by_parts_and_merges
def attend(query, key, value, mask=None):
    scores = torch.einsum("...tk,...sk->...ts", query, key) / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask, -torch.inf)
    top = scores.amax(-1, keepdim=True).detach()
    parts = (scores - top).exp()
    total = parts.sum(-1, keepdim=True)
    return parts / total @ value, (top + total.log()).squeeze(-1)


def join(a, b):
    (out, lse), (other, its) = a, b
    share = torch.sigmoid(lse - its)[..., None]
    top = torch.maximum(lse, its).detach()
    return share * out + (1 - share) * other, top + ((lse - top).exp() + (its - top).exp()).log()


def causal_tiled_attention(query, key, value, tile=64):
    if tile <= 0:
        raise ValueError(f"tile is {tile}: at least one position has to be read at a time")
    tiles = list(zip(query.split(tile, -2), key.split(tile, -2), value.split(tile, -2), strict=True))
    found = []
    for n, (q, k, v) in enumerate(tiles):
        T = q.shape[-2]
        result = attend(q, k, v, torch.ones(T, T, device=q.device).triu(1) > 0)
        for _, k, v in tiles[:n]:
            result = join(result, attend(q, k, v))
        found.append(result)
    return torch.cat([output for output, _ in found], -2), torch.cat([lse for _, lse in found], -1)


# %% keys_outside_queries_inside
def causal_tiled_attention(query, key, value, tile=64):
    if tile < 1:
        raise ValueError(f"tile: expected 1 or more, got {tile}")
    T, lowest = query.shape[-2], torch.finfo(query.dtype).min
    starts = range(0, T, tile)
    states = [None] * len(starts)
    for b, start in enumerate(starts):
        k, v = key[..., start : start + tile, :], value[..., start : start + tile, :]
        for a in range(b, len(starts)):
            q = query[..., starts[a] : starts[a] + tile, :] * query.shape[-1] ** -0.5
            scores = q @ k.mT
            if a == b:
                later = torch.ones_like(scores, dtype=torch.bool).triu(1)
                scores = scores.masked_fill(later, -torch.inf)
            if states[a] is None:
                states[a] = (torch.full_like(q[..., :1], lowest).detach(), 0.0, 0.0)
            top, total, out = states[a]
            new = torch.maximum(top, scores.detach().amax(-1, keepdim=True))
            shrink, parts = torch.exp(top - new), torch.exp(scores - new)
            states[a] = new, total * shrink + parts.sum(-1, keepdim=True), out * shrink + parts @ v
    outputs = torch.cat([out / total for _, total, out in states], -2)
    return outputs, torch.cat([(top + total.log()).squeeze(-1) for top, total, _ in states], -1)


# %% query_by_query
def causal_tiled_attention(query, key, value, tile=64):
    if tile < 1:
        raise ValueError(f"tile is {tile}, and must be at least 1")
    outputs, lses = [], []
    for i in range(query.shape[-2]):
        q = query[..., i : i + 1, :] / query.shape[-1] ** 0.5
        top = torch.full_like(q[..., :1], -torch.inf)
        total, out = torch.zeros_like(top), torch.zeros_like(value[..., :1, :])
        for s in range(0, i + 1, tile):
            keys = slice(s, min(s + tile, i + 1))  # no key that comes later
            scores = q @ key[..., keys, :].mT
            new = torch.maximum(top, scores.detach().amax(-1, keepdim=True))
            shrink, parts = (top - new).exp(), (scores - new).exp()
            total = total * shrink + parts.sum(-1, keepdim=True)
            out = out * shrink + parts @ value[..., keys, :]
            top = new
        outputs.append(out / total)
        lses.append((top + total.log()).squeeze(-1))
    return torch.cat(outputs, -2), torch.cat(lses, -1)


# %% with_the_exercises_before
def causal_tiled_attention(query, key, value, tile=64):
    if tile < 1:
        raise ValueError(f"tile is {tile}, which is below 1")
    T = query.shape[-2]
    outputs, lses = [], []
    for a in range(0, T, tile):
        q = query[..., a : a + tile, :]
        size = q.shape[-2]
        future = torch.arange(size, device=q.device) > torch.arange(size, device=q.device)[:, None]
        output, lse = partial_attention(q, key[..., a : a + tile, :], value[..., a : a + tile, :], future)  # noqa: F821
        if a:
            before = tiled_attention(q, key[..., :a, :], value[..., :a, :], tile=tile)  # noqa: F821
            output, lse = merge(*before, output, lse)  # noqa: F821
        outputs.append(output)
        lses.append(lse)
    return torch.cat(outputs, dim=-2), torch.cat(lses, dim=-1)
