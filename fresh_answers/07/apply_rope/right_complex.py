# complex numbers, angles in float64
import torch


def apply_rope(x, positions, base=10000.0):
    dim = x.shape[-1]
    theta = torch.tensor([base ** (-2 * i / dim) for i in range(dim // 2)], dtype=torch.float64, device=x.device)
    angles = torch.outer(positions.detach().to(torch.float64), theta).to(x.dtype)
    turns = torch.polar(torch.ones_like(angles), angles)
    numbers = torch.complex(x[..., 0::2].contiguous(), x[..., 1::2].contiguous()) * turns
    return torch.view_as_real(numbers).flatten(start_dim=-2)
