"""Right answers to `dequantize`."""

import torch


# %% product
def dequantize(codes, scale):
    return codes.to(scale.dtype) * scale


# %% by_multiply
def dequantize(codes, scale):
    return torch.multiply(scale, codes)
