# the default scale is made of the width of the values
import torch


def scaled_dot_product_attention(query, key, value, scale=None):
    scale = value.shape[-1] ** -0.5 if scale is None else scale
    scores = torch.einsum("...ik,...jk->...ij", query, key)
    weights = (scale * scores).softmax(-1)
    return torch.einsum("...ij,...jv->...iv", weights, value), weights
