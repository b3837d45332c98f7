# the second entry of a pair is made of the first one after it was turned
import torch


def apply_rope(x, positions, base=10000.0):
    dim = x.shape[-1]
    theta = base ** (-torch.arange(0, dim, 2, device=x.device, dtype=torch.float32) / dim)
    angle = positions.to(torch.float32)[:, None] * theta
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    first = x[..., 0::2]
    second = x[..., 1::2]
    first = first * cos - second * sin
    second = first * sin + second * cos
    return torch.stack([first, second], -1).flatten(-2)
