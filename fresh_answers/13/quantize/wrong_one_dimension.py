# a tuple of dimensions is refused
import torch


def quantize(x, dim):
    x = x.detach()
    scale = x.abs().max(dim=dim, keepdim=True).values / 127
    codes = torch.round(x / torch.where(scale == 0, torch.ones_like(scale), scale))
    return codes.to(torch.int8), scale
