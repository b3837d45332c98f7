# the pieces of a split of the results are views that are filled
import torch


@torch.no_grad()
def tiled_backward(query, key, value, output, lse, grad_output, tile=64):
    q = query * query.shape[-1] ** -0.5
    mean = torch.einsum("...v,...v->...", grad_output, output).unsqueeze(-1)
    results = [torch.zeros_like(x) for x in (query, key, value)]
    pieces = zip(*(x.split(tile, dim=-2) for x in (key, value, *results[1:])))
    for k, v, for_keys, for_values in pieces:
        share = (q @ k.transpose(-1, -2)).sub_(lse.unsqueeze(-1)).exp_()
        for_values.copy_(share.transpose(-1, -2) @ grad_output)
        slope = (grad_output @ v.transpose(-1, -2)).sub_(mean).mul_(share)
        for_keys.copy_(slope.transpose(-1, -2) @ q)
        results[0] += slope @ k
    results[0] *= query.shape[-1] ** -0.5
    return tuple(results)
