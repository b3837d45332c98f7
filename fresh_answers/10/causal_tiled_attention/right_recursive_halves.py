# for each block of queries, the results of two halves of its key blocks are merged, by recursion
import torch


def _block(q, k, v, diagonal):
    s = q @ k.mT
    if diagonal:
        s = s.masked_fill(torch.ones(s.shape[-2:], dtype=torch.bool, device=s.device).triu(1), -torch.inf)
    top = s.detach().amax(-1, keepdim=True)
    s = (s - top).exp()
    total = s.sum(-1, keepdim=True)
    return s @ v / total, top + total.log()


def causal_tiled_attention(query, key, value, tile=64):
    if tile < 1:
        raise ValueError(f"tile = {tile!r}")
    q = query * query.shape[-1] ** -0.5
    edges = [*range(0, query.shape[-2], tile), query.shape[-2]]
    bounds = list(zip(edges, edges[1:]))

    def part(x, bound):
        return x[..., bound[0] : bound[1], :]

    def over(i, first, last):
        if last - first == 1:
            return _block(part(q, bounds[i]), part(key, bounds[first]), part(value, bounds[first]), i == first)
        middle = (first + last) // 2
        (o, l), (p, r) = over(i, first, middle), over(i, middle, last)
        top = torch.maximum(l, r).detach()
        a, b = (l - top).exp(), (r - top).exp()
        return (o * a + p * b) / (a + b), top + (a + b).log()

    rows = [over(i, 0, i + 1) for i in range(len(bounds))]
    return torch.cat([o for o, _ in rows], -2), torch.cat([lse.squeeze(-1) for _, lse in rows], -1)
