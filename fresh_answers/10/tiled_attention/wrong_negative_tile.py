# a tile below 0 is no ValueError: nothing is read, and the result is zeros
import torch


def tiled_attention(query, key, value, mask=None, tile=64):
    if tile == 0:
        raise ValueError(f"tile is {tile}")
    q = query * (1 / query.shape[-1] ** 0.5)
    S = key.shape[-2]
    blocked = None if mask is None else mask.expand(q.shape[:-1] + (S,))
    state = [q.new_full(q.shape[:-1] + (1,), -torch.inf), q.new_zeros(q.shape[:-1] + (1,))]
    state.append(q.new_zeros(q.shape[:-1] + value.shape[-1:]))
    for begin in range(0, S, tile):
        k, v = (t.narrow(-2, begin, min(tile, S - begin)) for t in (key, value))
        s = q @ k.mT
        if blocked is not None:
            s = s.masked_fill(blocked.narrow(-1, begin, k.shape[-2]), -torch.inf)
        high, z, u = state
        new = torch.maximum(high, s.detach().amax(-1, keepdim=True))
        base = torch.nan_to_num(new, neginf=0.0)
        e, old = (s - base).exp(), (high - base).exp()
        state = [new, z * old + e.sum(-1, keepdim=True), u * old + e @ v]
    high, z, u = state
    one = z + (z == 0)
    lse = torch.nan_to_num(high, neginf=0.0) + one.log()
    return u / one, lse.masked_fill(z == 0, -torch.inf).squeeze(-1)
