# the gradients are float32, for float64 arguments too
import torch


def tiled_backward(query, key, value, output, lse, grad_output, tile=64):
    query, key, value, output, lse, grad_output = (t.detach() for t in (query, key, value, output, lse, grad_output))
    root = query.shape[-1] ** 0.5
    grads = [torch.zeros(t.shape, device=t.device) for t in (query, key, value)]
    along = torch.einsum("...tv,...tv->...t", grad_output, output)
    for first in range(0, key.shape[-2], tile):
        piece = slice(first, first + tile)
        weights = (torch.einsum("...tk,...sk->...ts", query, key[..., piece, :]) / root - lse[..., None]).exp()
        slope = torch.einsum("...tv,...sv->...ts", grad_output, value[..., piece, :]) - along[..., None]
        slope = slope * weights / root
        grads[0] += slope @ key[..., piece, :]
        grads[1][..., piece, :] = slope.transpose(-1, -2) @ query
        grads[2][..., piece, :] = weights.transpose(-1, -2) @ grad_output
    return tuple(grads)
