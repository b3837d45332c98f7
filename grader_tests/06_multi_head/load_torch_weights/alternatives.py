"""Right answers to `load_torch_weights` in other styles."""

import torch
from torch import nn


# %% load_by_state_dict
def load_torch_weights(ours, theirs):
    q, k, v = theirs.in_proj_weight.chunk(3)
    new = {"W_q.weight": q, "W_k.weight": k, "W_v.weight": v, "W_o.weight": theirs.out_proj.weight}
    ours.load_state_dict(new)
    return ours


# %% load_by_new_parameters
def load_torch_weights(ours, theirs):
    D = theirs.embed_dim
    packed = theirs.in_proj_weight.detach()
    ours.W_q.weight = nn.Parameter(packed[:D].clone())
    ours.W_k.weight = nn.Parameter(packed[D : 2 * D].clone())
    ours.W_v.weight = nn.Parameter(packed[2 * D :].clone())
    ours.W_o.weight = nn.Parameter(theirs.out_proj.weight.detach().clone())
    return ours


# %% load_by_decorator
@torch.no_grad()
def load_torch_weights(ours, theirs):
    state = theirs.state_dict()
    for layer, rows in zip((ours.W_q, ours.W_k, ours.W_v), state["in_proj_weight"].unflatten(0, (3, -1))):
        layer.weight[:] = rows
    ours.W_o.weight[...] = state["out_proj.weight"]
    return ours


# %% load_by_data
import copy


def load_torch_weights(ours, theirs):
    D = theirs.in_proj_weight.size(1)
    for i, target in enumerate([ours.W_q, ours.W_k, ours.W_v]):
        target.weight.data = theirs.in_proj_weight.data.narrow(0, i * D, D).clone()
    ours.W_o.weight.data = copy.deepcopy(theirs.out_proj.weight.data)
    return ours


# %% load_and_convince_oneself
def load_torch_weights(ours, theirs):
    with torch.inference_mode(False), torch.no_grad():
        for name, part in zip(["W_q", "W_k", "W_v"], torch.split(theirs.in_proj_weight, theirs.embed_dim)):
            getattr(ours, name).weight.set_(part.clone())
        ours.get_submodule("W_o").weight.copy_(theirs.out_proj.weight)
        x = torch.randn(4, 1, theirs.embed_dim, dtype=theirs.in_proj_weight.dtype)
        expected = theirs(x[:, 0], x[:, 0], x[:, 0])[0]  # one sentence needs no batch dimension
        found = ours(x.transpose(0, 1))[0][0]
        assert theirs.training or torch.allclose(found, expected, atol=1e-3)
    return ours


# %% load_by_numpy
def load_torch_weights(ours, theirs):
    layers = (ours.W_q, ours.W_k, ours.W_v)
    for layer, rows in zip(layers, theirs.in_proj_weight.detach().numpy().reshape(3, theirs.embed_dim, -1)):
        layer.weight.data.copy_(torch.from_numpy(rows.copy()))
    ours.W_o.load_state_dict(theirs.out_proj.state_dict())
    return ours
