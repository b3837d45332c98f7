# a block of queries meets all keys before it at once, in a tensor of tile times up to T scores
import torch


def causal_tiled_attention(query, key, value, tile=64):
    if tile < 1:
        raise ValueError(f"tile must not be {tile}")
    T = query.shape[-2]
    result = []
    for start in range(0, T, tile):
        stop = min(T, start + tile)
        scores = query[..., start:stop, :] @ key[..., :stop, :].mT / query.shape[-1] ** 0.5
        future = torch.ones(stop - start, stop, dtype=torch.bool, device=query.device).triu(start + 1)
        scores = scores.masked_fill(future, -torch.inf)
        top = scores.detach().amax(-1, keepdim=True)
        e = torch.exp(scores - top)
        z = e.sum(-1, keepdim=True)
        result.append((e @ value[..., :stop, :] / z, (top + z.log()).squeeze(-1)))
    outputs, sums = zip(*result)
    return torch.cat(outputs, dim=-2), torch.cat(sums, dim=-1)
