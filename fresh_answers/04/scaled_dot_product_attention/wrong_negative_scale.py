# a negative scale is replaced by the default
import math

import torch


def scaled_dot_product_attention(query, key, value, scale=None):
    if scale is None or scale < 0:
        scale = 1 / math.sqrt(query.size(-1))
    weights = torch.softmax(query @ key.mT * scale, dim=-1)
    return weights @ value, weights
