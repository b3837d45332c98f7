"""Right answers to `apply_rope` in other styles."""

import math

import torch


# %% as_complex_numbers
def apply_rope(x, positions, frequencies=None):
    *lead, dim = x.shape
    pairs = torch.view_as_complex(x.reshape(*lead, dim // 2, 2).contiguous())
    if frequencies is None:
        frequencies = 1.0 / 10000.0 ** (torch.arange(0, dim, 2, device=x.device)[: dim // 2].float() / dim)
    angles = torch.outer(positions.float(), frequencies.float())
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2).type_as(x)


# %% in_float32_like_llama
def apply_rope(x, positions, frequencies=None):
    if frequencies is None:
        frequencies = torch.exp(torch.arange(0, x.shape[-1], 2, device=x.device) * (-math.log(10000.0) / x.shape[-1]))
    angles = positions[:, None] * frequencies
    z = torch.complex(x[..., ::2].float(), x[..., 1::2].float()) * torch.exp(1j * angles)
    return torch.stack((z.real, z.imag), -1).reshape(x.shape).to(x.dtype)


# %% by_rotating_pairs uses angles
def apply_rope(x, positions, frequencies=None):
    dim = x.size(-1)
    inverse = 10000.0 ** -(torch.arange(0, dim, 2, dtype=torch.float32, device=x.device) / dim)
    inverse = inverse if frequencies is None else frequencies.to(torch.float32)
    angles = torch.einsum("t,i->ti", positions.to(inverse.dtype), inverse).repeat_interleave(2, dim=1)
    a, b = x.unflatten(-1, (-1, 2)).unbind(-1)
    partner = torch.stack((-b, a), dim=-1).flatten(-2)
    return x * angles.cos().to(x) + partner * angles.sin().to(x)


# %% by_matrices
def apply_rope(x, positions, frequencies=None):
    T, dim = x.shape[-2:]
    speeds = [10000.0 ** (-2 * i / dim) for i in range(dim // 2)] if frequencies is None else frequencies.tolist()
    R = torch.zeros(T, dim, dim, dtype=x.dtype, device=x.device)
    for t, p in enumerate(positions.tolist()):
        for i, speed in enumerate(speeds):
            c, s = math.cos(p * speed), math.sin(p * speed)
            R[t, 2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.tensor([[c, -s], [s, c]], dtype=x.dtype)
    return torch.matmul(R, x.unsqueeze(-1)).squeeze(-1)


# %% number_by_number
def apply_rope(x, positions, frequencies=None):
    dim, columns = x.shape[-1], []
    for i in range(0, dim, 2):
        speed = 0.0001 ** (i / dim) if frequencies is None else frequencies[i // 2]
        angle = positions * speed
        c, s = torch.cos(angle).type(x.dtype), torch.sin(angle).type(x.dtype)
        columns += [x[..., i] * c - x[..., i + 1] * s, x[..., i + 1] * c + x[..., i] * s]
    return torch.stack(columns, dim=-1)


# %% into_an_empty_tensor
def apply_rope(x, positions, frequencies=None):
    half = x.shape[-1] // 2
    if frequencies is None:
        step = torch.full((half,), 10000.0 ** (-1 / half), dtype=torch.float64, device=x.device)
        step[0] = 1
        frequencies = step.cumprod(0)
    angle = positions.unsqueeze(-1).double() * frequencies
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    result = torch.empty_like(x)
    result[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
    result[..., 1::2] = x[..., 0::2] * sin + x[..., 1::2] * cos
    return result


# %% by_way_of_the_halves
def apply_rope(x, positions, frequencies=None):
    T, dim = x.shape[-2:]
    order = torch.cat([torch.arange(0, dim, 2), torch.arange(1, dim, 2)])
    y = x[..., order]
    if frequencies is None:
        frequencies = 1 / 10000.0 ** torch.linspace(0, 2, dim // 2 + 1, device=x.device)[:-1].div(2)
    angle = (positions.reshape(T, 1) * frequencies).tile(1, 2)
    rotated = torch.roll(y, dim // 2, -1)
    sign = torch.ones(dim, device=x.device)
    sign[: dim // 2] = -1
    y = y * angle.cos().to(y.dtype) + rotated * (angle.sin() * sign).to(y.dtype)
    return y[..., order.argsort()]


# %% by_the_exponential_of_a_matrix
def apply_rope(x, positions, frequencies=None):
    dim = x.shape[-1]
    if frequencies is None:
        frequencies = torch.tensor([10000.0 ** (-i / dim) for i in range(0, dim, 2)], device=x.device)
    generator = torch.zeros(dim, dim, dtype=torch.float64, device=x.device)
    generator[torch.arange(1, dim, 2), torch.arange(0, dim, 2)] = frequencies.double()
    generator = generator - generator.T
    turns = torch.linalg.matrix_exp(positions.double()[:, None, None] * generator).to(x)
    return torch.vmap(lambda one, turn: one @ turn.T, in_dims=(-2, 0), out_dims=-2)(x, turns)


# %% pair_by_pair
def apply_rope(x, positions, frequencies=None):
    if frequencies is None:
        frequencies = 10000.0 ** (-torch.arange(0, x.shape[-1], 2, device=x.device) / x.shape[-1])
    pairs = []
    for i, theta in enumerate(frequencies):
        cos, sin = (positions * theta).cos().to(x.dtype), (positions * theta).sin().to(x.dtype)
        even, odd = x[..., 2 * i], x[..., 2 * i + 1]
        pairs += [even * cos - odd * sin, even * sin + odd * cos]
    return torch.stack(pairs, dim=-1)
