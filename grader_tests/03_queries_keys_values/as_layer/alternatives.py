"""Right answers to `as_layer` in other styles."""

import torch
from torch import nn


# %% copied_into_the_weight
def as_layer(matrix):
    layer = nn.Linear(*matrix.shape, bias=False).to(matrix)
    with torch.no_grad():
        layer.weight.copy_(matrix.T)
    return layer


# %% a_new_parameter
def as_layer(matrix):
    n_in, n_out = matrix.shape
    layer = nn.Linear(n_in, n_out, bias=False)
    layer.weight = nn.Parameter(matrix.detach().T.contiguous())
    return layer


# %% by_a_state_dict
def as_layer(matrix):
    layer = nn.Linear(matrix.shape[0], matrix.shape[1], bias=False, dtype=matrix.dtype)
    layer.load_state_dict({"weight": matrix.T})
    return layer
