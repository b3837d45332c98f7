# each tile is finished on its own, and pairs are merged
import torch


def _finished(q, k, v, shut):
    s = q @ k.transpose(-1, -2)
    if shut is not None:
        s = s.masked_fill(shut, -torch.inf)
    top = s.detach().amax(-1, keepdim=True)
    top = top.masked_fill(top.isneginf(), 0.0)
    s = (s - top).exp()
    total = s.sum(-1, keepdim=True)
    none = total == 0
    total = total.masked_fill(none, 1.0)
    return (s @ v) / total, (top + total.log()).masked_fill(none, -torch.inf)


def _both(one, two):
    (o, l), (p, r) = one, two
    none = l.isneginf() & r.isneginf()
    l, r = l.masked_fill(none, 0.0), r.masked_fill(none, 0.0)
    top = torch.maximum(l, r).detach()
    a, b = (l - top).exp(), (r - top).exp()
    total = a + b
    mixed = (o * a + p * b) / total
    return mixed.masked_fill(none, 0.0), (top + total.log()).masked_fill(none, -torch.inf)


def tiled_attention(query, key, value, mask=None, tile=64):
    if not tile >= 1:
        raise ValueError(f"a tile of {tile} keys")
    S = key.shape[-2]
    q = query / key.shape[-1] ** 0.5
    shut = None if mask is None else torch.broadcast_to(mask, (*query.shape[:-1], S))
    so_far = None
    for first in range(0, S, tile):
        last = min(first + tile, S)
        now = _finished(
            q, key[..., first:last, :], value[..., first:last, :], None if shut is None else shut[..., first:last]
        )
        so_far = now if so_far is None else _both(so_far, now)
    return so_far[0], so_far[1].squeeze(-1)
