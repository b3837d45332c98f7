"""Right answers to `scaled_frequencies` in other styles."""

import math

import torch


# %% by_lerp
def scaled_frequencies(dim, method, factor, length, base=10000.0, low=1.0, high=32.0):
    if method not in ("base", "interpolation", "yarn"):
        raise ValueError(f"method must be 'base', 'interpolation' or 'yarn', got {method!r}")
    if method == "base":
        base = base * factor ** (dim / (dim - 2))
    frequencies = 1.0 / base ** (torch.arange(0, dim, 2).float() / dim)
    if method == "base":
        return frequencies
    slowed = frequencies / factor
    if method == "interpolation":
        return slowed
    turns = frequencies * (length / math.tau)
    return torch.lerp(slowed, frequencies, ((turns - low) / (high - low)).clamp(min=0.0, max=1.0))


# %% pair_by_pair
def scaled_frequencies(dim, method, factor, length, base=10000.0, low=1.0, high=32.0):
    made = []
    for i in range(dim // 2):
        theta = base ** (-2 * i / dim)
        if method == "base":
            made.append((base * factor ** (dim / (dim - 2))) ** (-2 * i / dim))
        elif method == "interpolation":
            made.append(theta / factor)
        elif method == "yarn":
            turns = length * theta / (2 * math.pi)
            if turns > high:
                made.append(theta)
            elif turns < low:
                made.append(theta / factor)
            else:
                keep = (turns - low) / (high - low)
                made.append(keep * theta + (1 - keep) * theta / factor)
        else:
            raise ValueError(f"there is no method {method!r}")
    return torch.tensor(made, dtype=torch.float32)


# %% by_wavelengths
def scaled_frequencies(dim, method, factor, length, base=10000.0, low=1.0, high=32.0):
    theta = torch.pow(base, -torch.arange(0, dim, 2) / dim)
    if method == "base":
        return theta * torch.pow(factor, -torch.arange(0, dim, 2) / (dim - 2))
    if method == "interpolation":
        return theta / factor
    if method != "yarn":
        raise ValueError(f"method={method!r}")
    wavelengths = 2 * math.pi / theta
    smooth = (length / wavelengths - low) / (high - low)
    between = (1 - smooth) * theta / factor + smooth * theta
    long, short = wavelengths > length / low, wavelengths < length / high
    return torch.where(long, theta / factor, torch.where(short, theta, between))


# %% a_table_of_methods
def scaled_frequencies(dim, method, factor, length, base=10000.0, low=1.0, high=32.0):
    plain = torch.exp(torch.arange(0, dim, 2) * (-math.log(base) / dim))

    def by_parts():
        share = torch.clip((plain * length / (2 * math.pi) - low) / (high - low), 0, 1)
        return plain * (share + (1 - share) / factor)

    methods = {
        "base": lambda: plain * torch.exp(torch.arange(0, dim, 2) * (-math.log(factor) / (dim - 2))),
        "interpolation": lambda: plain / factor,
        "yarn": by_parts,
    }
    if method not in methods:
        raise ValueError(f"method is {method!r}, not one of {list(methods)}")
    return methods[method]()


# %% one_divisor_for_each_pair
def scaled_frequencies(dim, method, factor, length, base=10000.0, low=1.0, high=32.0):
    i = torch.arange(dim // 2, dtype=torch.float64)
    theta = base ** (-2 * i / dim)
    if method == "base":
        divisor = factor ** (i / (dim / 2 - 1))
    elif method == "interpolation":
        divisor = torch.full_like(theta, factor)
    elif method == "yarn":
        keep = ((length * theta / (2 * math.pi) - low) / (high - low)).clamp(0, 1)
        divisor = 1 / (keep + (1 - keep) / factor)
    else:
        raise ValueError(f"expected a known method, got {method}")
    return (theta / divisor).float()


# %% by_match
def scaled_frequencies(dim, method, factor, length, base=10000.0, low=1.0, high=32.0):
    def clocks(base):
        return torch.logspace(0, -(dim - 2) / dim, steps=dim // 2, base=base)

    match method:
        case "base":
            return clocks(base * factor * factor ** (2 / (dim - 2)))
        case "interpolation":
            return clocks(base).div(factor)
        case "yarn":
            fast = clocks(base)
            keep = fast.mul(length / (2 * math.pi)).sub(low).div(high - low).clamp(0, 1)
            return fast - (1 - keep) * (fast - fast / factor)
        case _:
            raise ValueError(f"unknown method: {method!r}")


# %% with_numpy
import numpy as np


def scaled_frequencies(dim, method, factor, length, base=10000.0, low=1.0, high=32.0):
    if method == "base":
        base *= factor ** (dim / (dim - 2))
    theta = np.power(float(base), -np.arange(0, dim, 2) / dim)
    if method == "interpolation":
        theta = theta / factor
    elif method == "yarn":
        keep = np.interp(length * theta / (2 * np.pi), [low, high], [0.0, 1.0])
        theta = keep * theta + (1 - keep) * theta / factor
    elif method != "base":
        raise ValueError(f"method {method!r} is unknown")
    return torch.from_numpy(theta).to(torch.float32)
