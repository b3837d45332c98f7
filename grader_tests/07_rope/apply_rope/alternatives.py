"""Right answers to `apply_rope` in other styles."""

import math

import torch


# %% as_complex_numbers
def apply_rope(x, positions, base=10000.0):
    *lead, dim = x.shape
    pairs = torch.view_as_complex(x.reshape(*lead, dim // 2, 2).contiguous())
    frequencies = 1.0 / base ** (torch.arange(0, dim, 2, device=x.device)[: dim // 2].float() / dim)
    angles = torch.outer(positions.float(), frequencies)
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2).type_as(x)


# %% in_float32_like_llama
def apply_rope(x, positions, base=10000.0):
    angles = positions[:, None] * torch.exp(
        torch.arange(0, x.shape[-1], 2, device=x.device) * (-math.log(base) / x.shape[-1])
    )
    z = torch.complex(x[..., ::2].float(), x[..., 1::2].float()) * torch.exp(1j * angles)
    return torch.stack((z.real, z.imag), -1).reshape(x.shape).to(x.dtype)


# %% by_rotating_pairs
def apply_rope(x, positions, base=10000.0):
    dim = x.size(-1)
    inverse = base ** -(torch.arange(0, dim, 2, dtype=torch.float32, device=x.device) / dim)
    angles = torch.einsum("t,i->ti", positions.to(inverse.dtype), inverse).repeat_interleave(2, dim=1)
    a, b = x.unflatten(-1, (-1, 2)).unbind(-1)
    partner = torch.stack((-b, a), dim=-1).flatten(-2)
    return x * angles.cos().to(x) + partner * angles.sin().to(x)


# %% by_matrices
def apply_rope(x, positions, base=10000.0):
    T, dim = x.shape[-2:]
    R = torch.zeros(T, dim, dim, dtype=x.dtype, device=x.device)
    for t, p in enumerate(positions.tolist()):
        for i in range(dim // 2):
            angle = p * base ** (-2 * i / dim)
            c, s = math.cos(angle), math.sin(angle)
            R[t, 2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.tensor([[c, -s], [s, c]], dtype=x.dtype)
    return torch.matmul(R, x.unsqueeze(-1)).squeeze(-1)


# %% number_by_number
def apply_rope(x, positions, base=10000.0):
    dim, columns = x.shape[-1], []
    for i in range(0, dim, 2):
        angle = positions * (1 / base) ** (i / dim)
        c, s = torch.cos(angle).type(x.dtype), torch.sin(angle).type(x.dtype)
        columns += [x[..., i] * c - x[..., i + 1] * s, x[..., i + 1] * c + x[..., i] * s]
    return torch.stack(columns, dim=-1)


# %% into_an_empty_tensor
def apply_rope(x, positions, base=10000.0):
    half = x.shape[-1] // 2
    step = torch.full((half,), base ** (-1 / half), dtype=torch.float64, device=x.device)
    step[0] = 1
    angle = positions.unsqueeze(-1).double() * step.cumprod(0)
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    result = torch.empty_like(x)
    result[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
    result[..., 1::2] = x[..., 0::2] * sin + x[..., 1::2] * cos
    return result


# %% by_way_of_the_halves
def apply_rope(x, positions, base=10000.0):
    T, dim = x.shape[-2:]
    order = torch.cat([torch.arange(0, dim, 2), torch.arange(1, dim, 2)])
    y = x[..., order]
    angle = (positions.reshape(T, 1) / base ** torch.linspace(0, 2, dim // 2 + 1, device=x.device)[:-1].div(2)).tile(
        1, 2
    )
    rotated = torch.roll(y, dim // 2, -1)
    sign = torch.ones(dim, device=x.device)
    sign[: dim // 2] = -1
    y = y * angle.cos().to(y.dtype) + rotated * (angle.sin() * sign).to(y.dtype)
    return y[..., order.argsort()]


# %% by_the_exponential_of_a_matrix
def apply_rope(x, positions, base=10000.0):
    dim = x.shape[-1]
    speeds = torch.tensor([base ** (-i / dim) for i in range(0, dim, 2)], dtype=torch.float64, device=x.device)
    generator = torch.zeros(dim, dim, dtype=torch.float64, device=x.device)
    generator[torch.arange(1, dim, 2), torch.arange(0, dim, 2)] = speeds
    generator = generator - generator.T
    turns = torch.linalg.matrix_exp(positions.double()[:, None, None] * generator).to(x)
    return torch.vmap(lambda one, turn: one @ turn.T, in_dims=(-2, 0), out_dims=-2)(x, turns)
