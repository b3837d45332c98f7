"""Right answers to `split_qkv` in other styles."""

import torch
from torch import nn


# %% split_by_chunks
def split_qkv(weight, bias):
    return tuple((w.T.clone(), b.clone()) for w, b in zip(weight.chunk(3, dim=1), bias.chunk(3)))


# %% split_by_slices
def split_qkv(weight, bias):
    D = weight.shape[0]
    W = weight.detach().clone().T
    b = bias.detach().clone()
    return (W[:D], b[:D]), (W[D : 2 * D], b[D : 2 * D]), (W[2 * D :], b[2 * D :])


# %% split_by_unflatten
def split_qkv(weight, bias):
    W = weight.unflatten(1, (3, -1)).permute(1, 2, 0).contiguous()  # (3, out, in)
    W, b = (W.clone() if W.data_ptr() == weight.data_ptr() else W), bias.unflatten(0, (3, -1)).clone()
    return list(zip(W.unbind(0), b.unbind(0)))


# %% split_by_three_layers
def split_qkv(weight, bias):
    pairs = []
    for W, b in zip(torch.split(weight, weight.size(0), dim=-1), torch.split(bias, weight.size(0))):
        layer = nn.Linear(*W.shape, dtype=weight.dtype, device=weight.device)
        with torch.no_grad():
            layer.weight.copy_(W.t())
            layer.bias.copy_(b)
        pairs.append((layer.weight.data, layer.bias.data))
    return tuple(pairs)


# %% split_by_an_identity
def split_qkv(weight, bias):
    D = len(weight)
    turned = weight.new_zeros(3 * D, D) + weight.mT
    moved = bias + 0
    return tuple((turned[i : i + D], moved[i : i + D]) for i in range(0, 3 * D, D))


# %% split_into_parameters
def split_qkv(weight, bias):
    pairs = []
    for i in range(3):
        columns = slice(i * len(weight), (i + 1) * len(weight))
        W, b = weight[:, columns].detach().t().clone(), bias[columns].detach().clone()
        pairs.append((nn.Parameter(W), nn.Parameter(b)))
    return tuple(pairs)
