# where all keys of the first tile are blocked, -inf minus -inf makes NaN
import torch


def tiled_attention(query, key, value, mask=None, tile=64):
    if tile < 1:
        raise ValueError(f"tile: {tile}")
    S = key.shape[-2]
    query = query * query.shape[-1] ** -0.5
    if mask is not None:
        mask = mask.expand(query.shape[:-1] + (S,))
        dead = mask.all(-1)
    m = z = u = None
    for start in range(0, S, tile):
        stop = min(S, start + tile)
        scores = query @ key[..., start:stop, :].transpose(-1, -2)
        if mask is not None:
            scores = scores.masked_fill(mask[..., start:stop] & ~dead[..., None], -torch.inf)
        high = scores.detach().amax(-1, keepdim=True)
        high = high if m is None else torch.maximum(m, high)
        e = torch.exp(scores - high)
        new_z, new_u = e.sum(-1, keepdim=True), e @ value[..., start:stop, :]
        if m is not None:
            old = torch.exp(m - high)
            new_z, new_u = new_z + z * old, new_u + u * old
        m, z, u = high, new_z, new_u
    output, lse = u / z, (m + z.log()).squeeze(-1)
    if mask is not None:
        output = output.masked_fill(dead[..., None], 0.0)
        lse = lse.masked_fill(dead, -torch.inf)
    return output, lse
