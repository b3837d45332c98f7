# the scale is made of the width of the values, not of the keys
import torch


def tiled_backward(query, key, value, output, lse, grad_output, tile=64):
    scale = value.shape[-1] ** -0.5
    delta = (grad_output * output).sum(-1, keepdim=True)
    grad_q, grad_k, grad_v = (torch.zeros_like(t) for t in (query, key, value))
    with torch.no_grad():
        for a in range(0, key.shape[-2], tile):
            k, v = key[..., a : a + tile, :], value[..., a : a + tile, :]
            p = torch.exp(query @ k.mT * scale - lse.unsqueeze(-1))
            grad_v[..., a : a + tile, :] = p.mT @ grad_output
            ds = p * (grad_output @ v.mT - delta) * scale
            grad_q += ds @ k
            grad_k[..., a : a + tile, :] = ds.mT @ query
    return grad_q, grad_k, grad_v
